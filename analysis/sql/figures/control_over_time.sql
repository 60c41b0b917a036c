-- Question: how does the control information of a copy grow and settle?
-- Grain:    one row per run and slice of its sending time, warm-up included
-- Reads:    runs, messages
WITH slices AS (
  SELECT run, greatest(max(sent_time) DIV :slices, 1) AS width
  FROM messages
  GROUP BY run
)
SELECT
  run, algorithm,
  (least(sent_time DIV width, :slices - 1) + 0.5) * any_value(width) / 1e9 AS time_s,
  avg(control_ints)                AS control_ints_mean,
  any_value(warmup_until) / 1e9    AS warmup_until_s
FROM messages
JOIN slices USING (run)
JOIN runs USING (run)
WHERE control_ints IS NOT NULL
GROUP BY run, algorithm, least(sent_time DIV width, :slices - 1)
ORDER BY run, time_s
