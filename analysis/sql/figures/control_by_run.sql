-- Question: how is the control information of copies spread?
-- Grain:    one row per run, of what was sent after the warm-up and arrived
-- Reads:    runs, messages
WITH points AS (
  SELECT
    run,
    avg(control_ints)                                                         AS mean,
    percentile_approx(control_ints, array(0.05, 0.50, 0.95), :accuracy)       AS ints
  FROM messages
  WHERE measured AND control_ints IS NOT NULL
  GROUP BY run
)
SELECT
  run, algorithm, n,
  mean    AS control_ints_mean,
  ints[0] AS control_ints_p05,
  ints[1] AS control_ints_p50,
  ints[2] AS control_ints_p95,
  n * n   AS nn
FROM points JOIN runs USING (run)
ORDER BY run
