-- Question: how soon is a crash suspected, and how often is the suspicion wrong?
-- Grain:    one row per run in which somebody crashed or was suspected
-- Reads:    runs, events
WITH crashes AS (
  SELECT run, node AS peer, min(time) AS crash_time FROM events WHERE event = 'crash'
  GROUP BY run, node
),
suspicions AS (
  SELECT run, node, peer, time, crash_time, coalesce(time < crash_time, TRUE) AS is_wrong
  FROM events
  LEFT JOIN crashes USING (run, peer)
  WHERE event = 'suspect'
),
counted AS (
  SELECT run, count(*) AS suspicions, count_if(is_wrong) AS wrong FROM suspicions GROUP BY run
),
noticed AS (
  SELECT run, node, peer, min(time - crash_time) AS took
  FROM suspicions
  WHERE NOT is_wrong
  GROUP BY run, node, peer
),
times AS (
  SELECT run, avg(took) AS mean, max(took) AS longest FROM noticed GROUP BY run
),
dead AS (
  SELECT run, count(*) AS crashed FROM crashes GROUP BY run
)
SELECT
  run, algorithm, n,
  coalesce(crashed, 0)       AS crashed,
  coalesce(suspicions, 0)    AS suspicions,
  coalesce(wrong, 0)         AS wrong_suspicions,
  mean / 1e6                 AS detection_ms_mean,
  longest / 1e6              AS detection_ms_max
FROM runs
LEFT JOIN dead USING (run)
LEFT JOIN counted USING (run)
LEFT JOIN times USING (run)
WHERE crashed IS NOT NULL OR suspicions IS NOT NULL
ORDER BY run
