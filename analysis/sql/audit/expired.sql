-- Question: what was delivered after its own deadline, by the receiver's clock?
-- Grain:    one row per such delivery, of runs that are held to deadlines
-- Reads:    judged, events, runs
WITH deadlines AS (
  SELECT run, origin, number, max(deadline) AS deadline
  FROM events
  WHERE event = 'send'
  GROUP BY run, origin, number
)
SELECT
  judged.run, rank, judged.node, judged.origin, judged.number,
  clock - deadlines.deadline AS late_ns
FROM judged
JOIN events ON events.run = judged.run AND events.node = judged.node AND events.seq = judged.seq
JOIN deadlines ON deadlines.run = judged.run
  AND deadlines.origin = judged.origin AND deadlines.number = judged.number
JOIN runs ON runs.run = judged.run
WHERE kind = 2 AND judgement = 'counted' AND clock > deadlines.deadline
  AND runs.guarantee = 'deadline-causal'
ORDER BY judged.run, rank
