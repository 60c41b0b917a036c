-- Question: which events does each column of the vector stamps have to see?
-- Grain:    one row per counted event and block of :width senders
-- Reads:    judged
WITH widths AS (
  SELECT run, count(DISTINCT node) AS senders FROM judged WHERE kind = 0 GROUP BY run
)
SELECT /*+ BROADCAST(widths) */
  run,
  explode(sequence(0, CAST((senders - 1) DIV :width AS INT))) AS block,
  rank, node, kind, origin, number
FROM judged JOIN widths USING (run)
WHERE judgement = 'counted'
