-- Question: what does a hand-off take?
-- Grain:    one row per mobile run, warm-up included
-- Reads:    runs, handoffs, hops, events
-- Packets are those that the algorithm names as its hand-off's (AV table 1), over wires only.
WITH durations AS (
  SELECT
    run,
    count(*)                                                                  AS handoffs,
    avg(end_time - begin_time)                                                AS mean,
    percentile_approx(end_time - begin_time, array(0.50, 0.95, 0.99), :accuracy) AS points
  FROM handoffs
  GROUP BY run
),
packets AS (
  SELECT run, count(*) AS packets, sum(bytes) AS bytes
  FROM hops JOIN runs USING (run)
  WHERE medium = 'wire' AND array_contains(handoff_packets, packet)
  GROUP BY run
),
moves AS (
  SELECT
    run,
    count_if(event IN ('enter', 'connect')) AS moves,
    count_if(event = 'disconnect')          AS disconnections
  FROM events
  GROUP BY run
)
SELECT
  run, algorithm,
  moves, disconnections,
  handoffs,
  mean / 1e6                       AS handoff_ms_mean,
  points[0] / 1e6                  AS handoff_ms_p50,
  points[1] / 1e6                  AS handoff_ms_p95,
  points[2] / 1e6                  AS handoff_ms_p99,
  try_divide(packets, handoffs)    AS packets_per_handoff,
  try_divide(bytes, handoffs)      AS bytes_per_handoff
FROM runs
JOIN moves USING (run)
LEFT JOIN durations USING (run)
LEFT JOIN packets USING (run)
WHERE run IN (SELECT run FROM events WHERE role = 'mh')
ORDER BY run
