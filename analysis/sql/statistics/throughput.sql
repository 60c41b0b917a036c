-- Question: how much is sent and delivered per emulated second?
-- Grain:    one row per run, from the end of the warm-up to the last send
-- Reads:    runs, events
WITH measured AS (
  SELECT run, event, time, coalesce(warmup_until, 0) AS since
  FROM events JOIN runs USING (run)
  WHERE event IN ('send', 'deliver')
    AND (coalesce(warmup_until, 0) = 0 OR time > warmup_until)
),
span AS (
  SELECT run, max(time) AS until, (max(time) - min(since)) / 1e9 AS seconds
  FROM measured
  WHERE event = 'send'
  GROUP BY run
),
counted AS (
  SELECT run, count_if(event = 'send') AS messages, count_if(event = 'deliver') AS deliveries
  FROM measured JOIN span USING (run)
  WHERE time <= until
  GROUP BY run
)
SELECT
  run, algorithm,
  seconds                            AS emulated_seconds,
  messages,
  deliveries,
  try_divide(messages, seconds)      AS messages_per_second,
  try_divide(deliveries, seconds)    AS deliveries_per_second,
  wall_seconds
FROM runs
LEFT JOIN span USING (run)
LEFT JOIN counted USING (run)
ORDER BY run
