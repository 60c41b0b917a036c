-- Question: who crashed, what is excused by it or otherwise, and did anything have a deadline?
-- Grain:    one row per run
-- Reads:    runs, events, missing
WITH seen AS (
  SELECT
    run,
    count(DISTINCT CASE WHEN event = 'crash' THEN node END)     AS crashed,
    count_if(event = 'send' AND deadline IS NOT NULL) > 0       AS saw_deadlines
  FROM events
  GROUP BY run
),
excused AS (
  SELECT
    run,
    count_if(excuse = 'waived')   AS waived,
    count_if(excuse = 'crash')    AS unowed,
    count_if(excuse = 'given up') AS given_up
  FROM missing
  GROUP BY run
)
SELECT
  run,
  coalesce(guarantee, 'causal') = 'deadline-causal' AS may_skip,
  coalesce(crashed, 0)                              AS crashed,
  coalesce(saw_deadlines, false)                    AS saw_deadlines,
  coalesce(waived, 0)                               AS waived,
  coalesce(unowed, 0)                               AS unowed,
  coalesce(given_up, 0)                             AS given_up
FROM runs
LEFT JOIN seen USING (run)
LEFT JOIN excused USING (run)
ORDER BY run
