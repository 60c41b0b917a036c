-- Question: what became of each message with a deadline at each of its destinations, and why?
-- Grain:    one row per run, message with a deadline, and destination other than its sender
-- Reads:    events, runs
-- A message is judged by its receiver's clock, as the audit does; `true_deadline` is when its time
-- was really up. Causes are looked at in the order of the CASE: the first that fits is the one.
WITH sent AS (
  SELECT
    run, origin, number, node AS sender, time AS sent_time, deadline,
    time + deadline - clock AS true_deadline, explode(dests) AS node
  FROM events
  WHERE event = 'send' AND deadline IS NOT NULL
),
arrived AS (
  SELECT
    run, node, origin, number,
    min(time)            AS received_time,
    min(clock)           AS received_clock,
    min_by(packet, seq)  AS received_as
  FROM events
  WHERE event = 'receive' AND origin IS NOT NULL
  GROUP BY run, node, origin, number
),
delivered AS (
  SELECT run, node, origin, number, min(time) AS delivered_time, min(clock) AS delivered_clock
  FROM events
  WHERE event = 'deliver' AND origin IS NOT NULL
  GROUP BY run, node, origin, number
),
given_up AS (
  SELECT run, node, origin, number, min_by(reason, seq) AS reason
  FROM events
  WHERE event IN ('discard', 'drop') AND reason IN ('expired', 'overtaken', 'no_room')
    AND origin IS NOT NULL
  GROUP BY run, node, origin, number
),
lost AS (
  SELECT run, peer AS node, origin, number, count(*) AS losses
  FROM events
  WHERE event = 'drop' AND reason = 'loss' AND origin IS NOT NULL
  GROUP BY run, peer, origin, number
),
crashes AS (
  SELECT run, node, min(time) AS crash_time FROM events WHERE event = 'crash' GROUP BY run, node
)
SELECT
  run, sent.origin, sent.number, sent.node,
  sent_time, true_deadline, received_time, delivered_time,
  deadline - delivered_clock                            AS slack_ns,
  delivered_time - sent_time                            AS delay_ns,
  received_as,
  coalesce(losses, 0)                                   AS losses,
  coalesce(warmup_until, 0) = 0 OR sent_time > warmup_until AS measured,
  CASE
    WHEN delivered_clock <= deadline                                     THEN 'delivered'
    WHEN delivered_clock > deadline AND delivered_time <= true_deadline  THEN 'clock error'
    WHEN delivered_clock > deadline                                      THEN 'delivered late'
    WHEN mine.crash_time <= true_deadline                                THEN 'receiver crashed'
    WHEN reason = 'no_room'                                              THEN 'no room'
    WHEN reason = 'overtaken'                                            THEN 'successor delivered'
    WHEN received_clock > deadline AND received_time <= true_deadline    THEN 'clock error'
    WHEN received_clock > deadline                                       THEN 'arrived late'
    WHEN received_time IS NOT NULL                                       THEN 'held too long'
    WHEN losses > 0                                                      THEN 'lost'
    WHEN theirs.crash_time IS NOT NULL                                   THEN 'sender crashed'
    ELSE 'unexplained'
  END                                                   AS fate
FROM sent
JOIN runs USING (run)
LEFT JOIN arrived USING (run, node, origin, number)
LEFT JOIN delivered USING (run, node, origin, number)
LEFT JOIN given_up USING (run, node, origin, number)
LEFT JOIN lost USING (run, node, origin, number)
LEFT JOIN crashes AS mine USING (run, node)
LEFT JOIN (SELECT run, node AS sender, crash_time FROM crashes) AS theirs USING (run, sender)
WHERE sent.node <> sent.sender
