-- Question: when did which station take over which host?
-- Grain:    one row per hand-off that was completed
-- Reads:    events
-- A host that registers again while it is awaited begins nothing new: a hand-off counts from the
-- first registration since the last one ended.
WITH steps AS (
  SELECT
    run, node AS station, peer AS host, event, time,
    count_if(event = 'handoff_end') OVER (
      PARTITION BY run, node, peer ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS ended_before
  FROM events
  WHERE event IN ('handoff_begin', 'handoff_end')
)
SELECT
  run, station, host,
  min(time) FILTER (WHERE event = 'handoff_begin') AS begin_time,
  max(time) FILTER (WHERE event = 'handoff_end')   AS end_time
FROM steps
GROUP BY run, station, host, ended_before
HAVING count_if(event = 'handoff_end') > 0 AND count_if(event = 'handoff_begin') > 0
