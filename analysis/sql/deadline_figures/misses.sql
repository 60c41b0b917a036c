-- Question: why did messages miss their deadline?
-- Grain:    one row per run with deadlines and cause, of what was sent after the warm-up
-- Reads:    runs, fates
WITH owed AS (
  SELECT run, count(*) AS owed FROM fates
  WHERE measured AND fate <> 'receiver crashed'
  GROUP BY run
)
SELECT run, algorithm, fate AS cause, 100 * count(*) / any_value(owed) AS percent
FROM fates
JOIN owed USING (run)
JOIN runs USING (run)
WHERE measured AND fate NOT IN ('delivered', 'receiver crashed')
GROUP BY run, algorithm, fate
ORDER BY run, cause
