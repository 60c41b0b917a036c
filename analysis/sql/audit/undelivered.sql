-- Question: which deliveries are owed still, and did the copy arrive?
-- Grain:    one row per message and destination, the first :findings_max of each run
-- Reads:    judged
WITH owed AS (
  SELECT run, origin, number, rank, posexplode(sort_array(array_distinct(dests))) AS (place, node)
  FROM judged
  WHERE kind = 0 AND judgement = 'counted'
),
missing AS (
  SELECT owed.*
  FROM owed
  LEFT ANTI JOIN (SELECT * FROM judged WHERE kind = 2 AND judgement = 'counted')
    USING (run, node, origin, number)
),
arrived AS (
  SELECT run, node, origin, number, true AS arrived
  FROM judged
  WHERE kind = 1 AND judgement = 'counted'
)
SELECT run, origin, number, node, coalesce(arrived, false) AS arrived
FROM missing LEFT JOIN arrived USING (run, node, origin, number)
QUALIFY row_number() OVER (PARTITION BY run ORDER BY rank, place) <= :findings_max
ORDER BY run, rank, place
