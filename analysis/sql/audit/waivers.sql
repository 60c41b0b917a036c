-- Question: which messages were given up without a reason?
-- Grain:    one row per message and destination
-- Reads:    given_up, blocks
WITH outdated AS (
  SELECT run, one.node, one.origin, one.number, true AS is_outdated
  FROM (SELECT run, explode(outdated) AS one FROM blocks)
)
SELECT given_up.*, NOT was_away OR coalesce(is_outdated, false) AS is_groundless
FROM given_up LEFT JOIN outdated USING (run, node, origin, number)
