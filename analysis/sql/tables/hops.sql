-- Question: what crossed which medium, and what did it weigh?
-- Grain:    one row per copy that reached a node or that the network lost, of any packet
-- Reads:    events
-- A copy that was lost is written by its sender, except one that came too late for a stay of its
-- host, which the host writes; `source` and `target` are right for both as far as bytes go.
WITH peers AS (
  SELECT run, node AS peer, any_value(role) AS role FROM events GROUP BY run, node
)
SELECT
  run,
  CASE WHEN event = 'receive' THEN peer ELSE node END AS source,
  CASE WHEN event = 'receive' THEN node ELSE peer END AS target,
  CASE WHEN events.role = 'mh' OR peers.role = 'mh' THEN 'air' ELSE 'wire' END AS medium,
  event = 'drop'                                      AS is_lost,
  packet, origin, number, time,
  control_ints, control_bytes,
  coalesce(payload_bytes, 0)                          AS payload_bytes,
  coalesce(control_bytes, 0) + coalesce(payload_bytes, 0) AS bytes,
  cpu_ns
FROM events
LEFT JOIN peers USING (run, peer)
WHERE event IN ('receive', 'drop') AND peer IS NOT NULL
