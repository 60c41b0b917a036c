-- Question: how long does a message take from its send to its delivery?
-- Grain:    one row per run, of what was sent after the warm-up and delivered
-- Reads:    runs, messages
WITH delays AS (
  SELECT
    run,
    count(delay_ns)                                                   AS deliveries,
    avg(delay_ns)                                                     AS mean,
    percentile_approx(delay_ns, array(0.50, 0.95, 0.99), :accuracy)   AS points,
    max(delay_ns)                                                     AS longest,
    avg(received_time - sent_time)                                    AS transit
  FROM messages
  WHERE measured AND delay_ns IS NOT NULL
  GROUP BY run
)
SELECT
  run, algorithm,
  deliveries,
  mean / 1e6      AS delay_ms_mean,
  points[0] / 1e6 AS delay_ms_p50,
  points[1] / 1e6 AS delay_ms_p95,
  points[2] / 1e6 AS delay_ms_p99,
  longest / 1e6   AS delay_ms_max,
  transit / 1e6   AS transit_ms_mean
FROM runs
LEFT JOIN delays USING (run)
ORDER BY run
