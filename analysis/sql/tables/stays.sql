-- Question: which host was in which cell, and when?
-- Grain:    one row per stay of a host
-- Reads:    events
-- Where a host is at the start is no event: the first row that names its station says it.
WITH hosts AS (
  SELECT
    run, node AS host,
    min_by(peer, seq) AS first_station
  FROM events
  WHERE role = 'mh' AND peer IS NOT NULL
  GROUP BY run, node
),
ends AS (
  SELECT run, max(time) AS end_time FROM events GROUP BY run
),
steps AS (
  SELECT run, node AS host, peer AS station, event, seq, time
  FROM events
  WHERE role = 'mh' AND event IN ('enter', 'leave', 'connect', 'disconnect')
  UNION ALL
  SELECT run, host, first_station, 'enter', -1, 0 FROM hosts
),
paired AS (
  SELECT
    run, host, station, event, time AS start_time,
    lead(time)  OVER (PARTITION BY run, host ORDER BY seq) AS left_time,
    lead(event) OVER (PARTITION BY run, host ORDER BY seq) AS left_by
  FROM steps
)
SELECT
  run, host, station, start_time,
  coalesce(left_time, end_time)               AS end_time,
  coalesce(left_by = 'disconnect', FALSE)     AS disconnects,
  event = 'connect'                           AS reconnects
FROM paired JOIN ends USING (run)
WHERE event IN ('enter', 'connect')
