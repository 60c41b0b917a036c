-- Question: which events count, and what is wrong with those that do not?
-- Grain:    one row per send, receive or delivery of a message
-- Reads:    ordered (the skeleton in an order that respects causality)
WITH sends AS (
  SELECT run, origin, number, dests AS sent_to FROM ordered WHERE kind = 0
),
addressed AS (
  SELECT
    ordered.*,
    kind < 2 OR array_contains(sent_to, node) AS is_addressed
  FROM ordered LEFT JOIN sends USING (run, origin, number)
),
numbered AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY run, node, kind, origin, number, known AND is_addressed ORDER BY seq
    ) AS occurrence
  FROM addressed
)
SELECT
  run, node, seq, kind, origin, number, dests, time, rank,
  CASE
    WHEN NOT known THEN 'never sent'
    WHEN NOT is_addressed THEN 'not addressed'
    WHEN occurrence > 1 THEN 'repeated'
    ELSE 'counted'
  END AS judgement
FROM numbered
