-- Question: which events count, and what is wrong with those that do not?
-- Grain:    one row per event of the skeleton
-- Reads:    ordered (the skeleton in an order that respects causality), events
WITH killed AS (
  -- the last rows of an actor that was killed are lost, and sends of its nodes with them
  SELECT DISTINCT run, node AS origin, true AS killed
  FROM events
  WHERE event = 'crash' AND reason = 'killed'
),
sends AS (
  SELECT run, origin, number, dests AS sent_to
  FROM ordered
  WHERE kind = 0
  QUALIFY row_number() OVER (PARTITION BY run, origin, number ORDER BY rank) = 1
),
addressed AS (
  SELECT
    ordered.*,
    kind = 0 OR coalesce(
      array_contains(sent_to, CASE WHEN kind IN (3, 4) THEN peer ELSE node END), false
    ) AS is_addressed
  FROM ordered LEFT JOIN sends USING (run, origin, number)
),
numbered AS (
  -- a message has one send wherever, one arrival and one delivery at a node
  SELECT
    *,
    row_number() OVER (
      PARTITION BY
        run, kind, CASE WHEN kind = 0 THEN NULL ELSE node END, origin, number,
        known, is_addressed
      ORDER BY rank
    ) AS occurrence
  FROM addressed
)
SELECT
  run, node, seq, kind, origin, number, dests, peer, time, rank,
  CASE
    WHEN NOT known AND kind = 2 AND killed THEN 'unrecorded'
    WHEN NOT known THEN 'never sent'
    WHEN kind = 1 AND NOT is_addressed AND occurrence = 1 THEN 'passing'  -- at a station
    WHEN NOT is_addressed THEN 'not addressed'
    WHEN kind = 3 THEN 'counted'
    WHEN occurrence > 1 THEN 'repeated'
    ELSE 'counted'
  END AS judgement
FROM numbered LEFT JOIN killed USING (run, origin)
