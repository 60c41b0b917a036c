-- Question: what became of each message at each of its destinations?
-- Grain:    one row per run, message and destination
-- Reads:    events, runs
WITH sent AS (
  SELECT run, origin, number, time AS sent_time, explode(dests) AS node, payload_bytes
  FROM events
  WHERE event = 'send'
),
arrived AS (
  -- the first copy to arrive; the sizes are those of that copy
  SELECT
    run, node, origin, number,
    min(time)                    AS received_time,
    min_by(control_ints, seq)    AS control_ints,
    min_by(control_bytes, seq)   AS control_bytes,
    min_by(control_units, seq)   AS control_units,
    min_by(control_entries, seq) AS control_entries,
    min_by(control_empty, seq)   AS control_empty
  FROM events
  WHERE event = 'receive' AND origin IS NOT NULL
  GROUP BY run, node, origin, number
),
delivered AS (
  SELECT run, node, origin, number, min(time) AS delivered_time
  FROM events
  WHERE event = 'deliver' AND origin IS NOT NULL
  GROUP BY run, node, origin, number
)
SELECT
  run, sent.origin, sent.number, sent.node,
  sent_time,
  received_time,
  delivered_time,
  delivered_time - received_time AS waited_ns,
  delivered_time - sent_time     AS delay_ns,
  control_ints, control_bytes, control_units, control_entries, control_empty,
  payload_bytes,
  coalesce(warmup_until, 0) = 0 OR sent_time > warmup_until AS measured
FROM sent
JOIN runs USING (run)
LEFT JOIN arrived USING (run, node, origin, number)
LEFT JOIN delivered USING (run, node, origin, number)
