-- Question: which share of messages met their deadline, by when they were sent?
-- Grain:    one row per run with deadlines and slice of its sending time, warm-up included
-- Reads:    runs, fates, events
WITH slices AS (
  SELECT run, greatest(max(sent_time) DIV :slices, 1) AS width FROM fates GROUP BY run
),
crashes AS (
  SELECT run, min(time) AS crash_time FROM events WHERE event = 'crash' GROUP BY run
)
SELECT
  run, algorithm,
  (least(sent_time DIV width, :slices - 1) + 0.5) * any_value(width) / 1e9 AS time_s,
  100 * avg(CAST(fate = 'delivered' AS INT))                               AS delivered_percent,
  any_value(crash_time) / 1e9                                              AS crash_s
FROM fates
JOIN slices USING (run)
JOIN runs USING (run)
LEFT JOIN crashes USING (run)
WHERE fate <> 'receiver crashed'
GROUP BY run, algorithm, least(sent_time DIV width, :slices - 1)
ORDER BY run, time_s
