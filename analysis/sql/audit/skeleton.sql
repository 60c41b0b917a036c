-- Question: what of the trace bears on causal order?
-- Grain:    one row per send, receive or delivery of a message
-- Reads:    events
SELECT
  run, node, seq,
  CASE event WHEN 'send' THEN 0 WHEN 'receive' THEN 1 ELSE 2 END AS kind,
  origin, number, dests,
  coalesce(time, 0) AS time
FROM events
WHERE event IN ('send', 'receive', 'deliver') AND origin IS NOT NULL
