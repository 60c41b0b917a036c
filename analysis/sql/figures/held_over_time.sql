-- Question: how many messages are held at a time, over all nodes?
-- Grain:    one row per run and slice of its emulated time, warm-up included
-- Reads:    runs, messages, events
-- A message is held from its arrival to its delivery, or to the end; the value is the mean over
-- the slice, so no peak between two samples is lost.
WITH slices AS (
  SELECT run, greatest(max(time) DIV :slices, 1) AS width, max(time) AS end_time
  FROM events
  GROUP BY run
),
held AS (
  SELECT run, received_time AS since, coalesce(delivered_time, end_time) AS until, width
  FROM messages JOIN slices USING (run)
  WHERE received_time < coalesce(delivered_time, end_time)
),
parts AS (
  SELECT run, since, until, width, explode(sequence(since DIV width, until DIV width)) AS slice
  FROM held
),
sums AS (
  SELECT
    run, slice,
    sum(least(until, (slice + 1) * width) - greatest(since, slice * width)) / any_value(width)
      AS held_mean
  FROM parts
  GROUP BY run, slice
),
grid AS (
  SELECT run, width, explode(sequence(0, :slices - 1)) AS slice FROM slices
)
SELECT
  run, algorithm,
  (grid.slice + 0.5) * width / 1e9 AS time_s,
  coalesce(held_mean, 0)           AS held_mean
FROM grid
JOIN runs USING (run)
LEFT JOIN sums USING (run, slice)
ORDER BY run, time_s
