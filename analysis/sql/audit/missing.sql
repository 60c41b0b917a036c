-- Question: what was owed and not delivered, and what excuses it?
-- Grain:    one row per message and destination
-- Reads:    judged, waivers, events
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
down AS (
  SELECT DISTINCT run, node AS crashed FROM events WHERE event = 'crash'
),
waived AS (
  SELECT run, node, origin, number, true AS waived FROM waivers WHERE NOT is_groundless
),
given_up AS (
  -- a discard is for its host or for the node itself; a drop for whom the copy was
  SELECT DISTINCT
    run, origin, number, true AS given_up,
    CASE WHEN reason IN ('no_room', 'crashed') THEN node ELSE coalesce(peer, node) END AS node
  FROM events
  WHERE origin IS NOT NULL AND (
    (event = 'discard' AND coalesce(reason, '') <> 'disconnected')
    OR (event = 'drop' AND (reason IN ('no_room', 'crashed') OR peer IS NOT NULL))
  )
)
SELECT
  missing.run, missing.origin, missing.number, rank, place, missing.node,
  CASE
    WHEN waived THEN 'waived'
    WHEN receiver.crashed IS NOT NULL OR sender.crashed IS NOT NULL THEN 'crash'
    WHEN given_up THEN 'given up'
  END AS excuse
FROM missing
LEFT JOIN waived USING (run, node, origin, number)
LEFT JOIN given_up USING (run, node, origin, number)
LEFT JOIN down AS receiver ON missing.run = receiver.run AND missing.node = receiver.crashed
LEFT JOIN down AS sender ON missing.run = sender.run AND missing.origin = sender.crashed
