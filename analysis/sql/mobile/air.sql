-- Question: what does a host send and receive over the air, and what energy does that take?
-- Grain:    one row per mobile run, warm-up included; means over its hosts
-- Reads:    runs, events, hops
-- A frame between two hosts costs both: one sends, one receives. A lost frame was sent all the
-- same. Energy is an estimate: so many joules per byte sent and per byte received.
WITH hosts AS (
  SELECT run, node FROM events WHERE role = 'mh' GROUP BY run, node
),
sent AS (
  SELECT
    run, source AS node,
    count(*) AS frames, sum(bytes) AS bytes, sum(control_bytes) AS control_bytes,
    sum(control_ints) AS control_ints
  FROM hops
  WHERE medium = 'air'
  GROUP BY run, source
),
received AS (
  SELECT
    run, target AS node,
    count(*) AS frames, sum(bytes) AS bytes, sum(control_bytes) AS control_bytes,
    sum(control_ints) AS control_ints
  FROM hops
  WHERE medium = 'air' AND NOT is_lost
  GROUP BY run, target
),
lost AS (
  SELECT run, count_if(is_lost) AS lost, count(*) AS frames
  FROM hops
  WHERE medium = 'air'
  GROUP BY run
)
SELECT
  run, algorithm,
  count(*)                                              AS hosts,
  avg(coalesce(sent.frames, 0))                         AS frames_sent_per_host,
  avg(coalesce(received.frames, 0))                     AS frames_received_per_host,
  avg(coalesce(sent.bytes, 0))                          AS bytes_sent_per_host,
  avg(coalesce(received.bytes, 0))                      AS bytes_received_per_host,
  avg(coalesce(sent.control_bytes, 0) + coalesce(received.control_bytes, 0))
                                                        AS control_bytes_per_host,
  try_divide(
    sum(coalesce(sent.control_ints, 0) + coalesce(received.control_ints, 0)),
    sum(coalesce(sent.frames, 0) + coalesce(received.frames, 0))
  )                                                     AS control_ints_per_frame_mean,
  100 * any_value(lost.lost) / any_value(lost.frames)   AS lost_percent,
  1e3 * avg(
    :joules_sent * coalesce(sent.bytes, 0) + :joules_received * coalesce(received.bytes, 0)
  )                                                     AS millijoules_per_host
FROM hosts
JOIN runs USING (run)
LEFT JOIN sent USING (run, node)
LEFT JOIN received USING (run, node)
LEFT JOIN lost USING (run)
GROUP BY run, algorithm
ORDER BY run
