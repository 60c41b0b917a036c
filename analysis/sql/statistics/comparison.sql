-- Question: how do the runs compare, on one line each?
-- Grain:    one row per run
-- Reads:    runs, messages, events
WITH sizes AS (
  SELECT
    run,
    count(delivered_time)                                AS deliveries,
    avg(control_ints)                                    AS control_ints_mean,
    avg(control_bytes)                                   AS control_bytes_mean,
    percentile_approx(delay_ns, 0.50, :accuracy) / 1e6   AS delay_ms_p50,
    percentile_approx(delay_ns, 0.99, :accuracy) / 1e6   AS delay_ms_p99,
    100 * avg(CAST(waited_ns > 0 AS INT))                AS held_percent,
    avg(CASE WHEN waited_ns > 0 THEN waited_ns END) / 1e6 AS held_ms_mean
  FROM messages
  WHERE measured
  GROUP BY run
),
states AS (
  SELECT run, count_if(event = 'send') AS messages, avg(state_ints) AS state_ints_mean
  FROM events JOIN runs USING (run)
  WHERE event IN ('send', 'receive', 'deliver')
    AND (coalesce(warmup_until, 0) = 0 OR time > warmup_until)
  GROUP BY run
)
SELECT
  run, algorithm, engine, n, verdict,
  messages, deliveries,
  control_ints_mean,
  100 * control_ints_mean / (n * n) AS control_percent_of_nn,
  control_bytes_mean,
  state_ints_mean,
  delay_ms_p50, delay_ms_p99,
  held_percent, held_ms_mean
FROM runs
LEFT JOIN sizes USING (run)
LEFT JOIN states USING (run)
ORDER BY run
