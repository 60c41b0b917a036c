-- Question: what of the trace bears on causal order?
-- Grain:    one row per event that is about a message and waits for its send
-- Reads:    events
SELECT
  run, node, seq,
  CASE
    WHEN event = 'send' THEN 0
    WHEN event = 'receive' THEN 1
    WHEN event = 'deliver' THEN 2
    WHEN event = 'forward' THEN 3
    WHEN event = 'discard' AND reason = 'disconnected' THEN 4  -- given up for `peer`
    ELSE 5
  END AS kind,
  origin, number, dests, peer,
  coalesce(time, 0) AS time
FROM events
WHERE origin IS NOT NULL
  AND (
    event IN ('send', 'receive', 'deliver', 'forward')
    OR (event = 'discard' AND (reason IS DISTINCT FROM 'disconnected' OR peer IS NOT NULL))
    OR (event = 'drop' AND (peer IS NOT NULL OR reason IN ('no_room', 'crashed')))
  )
