-- Question: which deliveries are owed still, and did the copy arrive?
-- Grain:    one row per message and destination, the first :findings_max of each run
-- Reads:    missing, judged, runs
WITH arrived AS (
  SELECT run, node, origin, number, true AS arrived
  FROM judged
  WHERE kind = 1 AND judgement = 'counted'
),
owed AS (
  SELECT missing.*
  FROM missing JOIN runs USING (run)
  WHERE coalesce(excuse, 'given up') = 'given up'
    AND coalesce(guarantee, 'causal') <> 'deadline-causal'
)
SELECT run, origin, number, node, coalesce(arrived, false) AS arrived
FROM owed LEFT JOIN arrived USING (run, node, origin, number)
QUALIFY row_number() OVER (PARTITION BY run ORDER BY rank, place) <= :findings_max
ORDER BY run, rank, place
