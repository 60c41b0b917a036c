-- Question: which messages were given up for hosts that were not away?
-- Grain:    one row per message and destination, the first :findings_max of each run
-- Reads:    waivers
SELECT run, node, origin, number, was_away
FROM waivers
WHERE is_groundless
QUALIFY row_number() OVER (PARTITION BY run ORDER BY rank) <= :findings_max
ORDER BY run, rank
