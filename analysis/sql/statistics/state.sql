-- Question: how much ordering state does a node keep?
-- Grain:    one row per run, over sends, receives and deliveries after the warm-up
-- Reads:    runs, events
WITH states AS (
  SELECT
    run,
    avg(state_ints)                                AS state_ints_mean,
    percentile_approx(state_ints, 0.99, :accuracy) AS state_ints_p99,
    max(state_ints)                                AS state_ints_max
  FROM events JOIN runs USING (run)
  WHERE event IN ('send', 'receive', 'deliver')
    AND (coalesce(warmup_until, 0) = 0 OR time > warmup_until)
  GROUP BY run
)
SELECT
  run, algorithm, n,
  state_ints_mean, state_ints_p99, state_ints_max,
  100 * state_ints_mean / (n * n) AS state_mean_percent_of_nn,
  100 * state_ints_max / (n * n)  AS state_max_percent_of_nn
FROM runs
LEFT JOIN states USING (run)
ORDER BY run
