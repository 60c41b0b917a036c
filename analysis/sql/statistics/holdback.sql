-- Question: how many messages must wait for their causal past, and for how long?
-- Grain:    one row per run, of what was sent after the warm-up and arrived
-- Reads:    runs, messages
-- `never_delivered` arrived and was held to the end; `arrived_out_of_order` is the audit's count
-- over the whole run.
WITH waits AS (
  SELECT
    run,
    count(received_time)                                                   AS arrived,
    count_if(waited_ns > 0)                                                AS held,
    count_if(received_time IS NOT NULL AND delivered_time IS NULL)         AS never_delivered,
    avg(waited_ns) FILTER (WHERE waited_ns > 0)                            AS mean,
    percentile_approx(waited_ns, array(0.50, 0.95, 0.99), :accuracy)
      FILTER (WHERE waited_ns > 0)                                         AS points,
    max(waited_ns)                                                         AS longest
  FROM messages
  WHERE measured
  GROUP BY run
)
SELECT
  run, algorithm,
  arrived,
  held,
  100 * try_divide(held, arrived) AS held_percent,
  mean / 1e6                      AS held_ms_mean,
  points[0] / 1e6                 AS held_ms_p50,
  points[1] / 1e6                 AS held_ms_p95,
  points[2] / 1e6                 AS held_ms_p99,
  CASE WHEN held > 0 THEN longest / 1e6 END AS held_ms_max,
  never_delivered,
  arrived_out_of_order
FROM runs
LEFT JOIN waits USING (run)
ORDER BY run
