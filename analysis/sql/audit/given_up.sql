-- Question: what did stations give up for hosts that were off the air, and were they ever?
-- Grain:    one row per message and destination
-- Reads:    judged, events
WITH given_up AS (
  SELECT run, peer AS node, origin, number, min(rank) AS rank
  FROM judged
  WHERE kind = 4
  GROUP BY run, peer, origin, number
),
sends AS (
  SELECT run, node, seq, origin, number, dests FROM judged WHERE kind = 0 AND judgement = 'counted'
),
absences AS (
  SELECT
    run, node,
    max(seq) FILTER (WHERE event = 'connect') AS returned,
    max_by(event, seq) = 'connect'            AS is_back
  FROM events
  WHERE event IN ('disconnect', 'connect')
  GROUP BY run, node
),
returns AS (
  SELECT absences.run, absences.node, count(sends.seq) AS sent_before
  FROM absences
  LEFT JOIN sends
    ON sends.run = absences.run AND sends.node = absences.node AND sends.seq < absences.returned
  WHERE is_back
  GROUP BY absences.run, absences.node
),
delivered AS (
  SELECT run, node, origin, number, true AS was_delivered
  FROM judged
  WHERE kind = 2 AND judgement = 'counted'
)
SELECT
  run, given_up.node, origin, number, given_up.rank,
  absences.node IS NOT NULL      AS was_away,
  sent_before,
  coalesce(was_delivered, false) AS was_delivered
FROM given_up
JOIN (SELECT run, origin, number, dests FROM sends) AS addressed USING (run, origin, number)
LEFT JOIN absences USING (run, node)
LEFT JOIN returns USING (run, node)
LEFT JOIN delivered USING (run, node, origin, number)
WHERE array_contains(addressed.dests, given_up.node)
