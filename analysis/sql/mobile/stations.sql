-- Question: how much do stations keep?
-- Grain:    one row per mobile run with stations that take part, over their events after the warm-up
-- Reads:    runs, events
SELECT
  run, algorithm,
  count(DISTINCT node)                           AS stations,
  avg(state_ints)                                AS state_ints_mean,
  percentile_approx(state_ints, 0.99, :accuracy) AS state_ints_p99,
  max(state_ints)                                AS state_ints_max,
  avg(pending)                                   AS messages_held_mean,
  percentile_approx(pending, 0.99, :accuracy)    AS messages_held_p99,
  max(pending)                                   AS messages_held_max
FROM events
JOIN runs USING (run)
WHERE role = 'mss' AND (coalesce(warmup_until, 0) = 0 OR time > warmup_until)
GROUP BY run, algorithm
ORDER BY run
