-- Question: which events does each column of the vector stamps have to see?
-- Grain:    one row per event that counts and block of :width senders
-- Reads:    judged, given_up
WITH widths AS (
  SELECT run, count(DISTINCT node) AS senders FROM judged WHERE kind = 0 GROUP BY run
),
seen AS (
  SELECT
    run, rank, node,
    CASE judgement WHEN 'passing' THEN 3 ELSE kind END AS kind,
    origin, number,
    CASE WHEN kind = 0 THEN dests END AS dests,
    CAST(NULL AS BIGINT)              AS sent_before
  FROM judged
  WHERE kind < 3 AND judgement IN ('counted', 'passing')
  UNION ALL
  -- at the end, when all stamps are known
  SELECT run, 9223372036854775807, node, 4, origin, number, NULL, sent_before
  FROM given_up
  WHERE was_away AND sent_before IS NOT NULL
)
SELECT /*+ BROADCAST(widths) */
  run,
  explode(sequence(0, CAST((senders - 1) DIV :width AS INT))) AS block,
  rank, node, kind, origin, number, dests, sent_before
FROM seen JOIN widths USING (run)
