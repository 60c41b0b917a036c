-- Question: what was sent or delivered more than once, or to the wrong node, or from nowhere?
-- Grain:    one row per such event, the first :findings_max of each run
-- Reads:    judged
SELECT run, rank, kind, node, origin, number, judgement
FROM judged
WHERE kind IN (0, 2) AND judgement NOT IN ('counted', 'unrecorded')
QUALIFY row_number() OVER (PARTITION BY run ORDER BY rank) <= :findings_max
ORDER BY run, rank
