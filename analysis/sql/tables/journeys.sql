-- Question: where did a message spend its time between the host that sent it and the one that got it?
-- Grain:    one row per message and destination host that received it
-- Reads:    events, messages, handoffs, stays
-- The instants follow one another, so the parts add up to the delay:
--   sent, raised (last sent up by the host), accepted (at its station), entered (no hand-off of the
--   sender holds it), arrived (at the station that first sent it down), lowered (first sent down),
--   repeated (last sent down before it came), received, delivered.
-- A station that sends is its own first station. Without stations only sent, received and delivered
-- are known: everything up to the arrival is time in the air.
WITH roles AS (
  SELECT run, node, any_value(role) AS role FROM events GROUP BY run, node
),
mine AS (
  SELECT messages.*, sender.role AS sender_role
  FROM messages
  JOIN (SELECT run, node, role FROM roles WHERE role = 'mh') USING (run, node)
  JOIN (SELECT run, node AS origin, role FROM roles) AS sender USING (run, origin)
  WHERE received_time IS NOT NULL
),
copies AS (
  -- what stations did with messages: receive, forward, retransmit
  SELECT run, origin, number, node, event, peer, time, control_bytes, cpu_ns
  FROM events
  WHERE role = 'mss' AND origin IS NOT NULL AND event IN ('receive', 'forward', 'retransmit')
),
accepted AS (
  SELECT
    run, origin, number,
    min(time)                   AS accepted_time,
    min_by(node, time)          AS home,
    min_by(control_bytes, time) AS up_header_bytes,
    min_by(cpu_ns, time)        AS up_cpu_ns
  FROM copies
  WHERE event = 'receive' AND peer = origin
  GROUP BY run, origin, number
),
raised AS (
  SELECT run, origin, number, max(time) AS raised_time
  FROM events JOIN accepted USING (run, origin, number)
  WHERE node = origin AND event IN ('send', 'retransmit') AND time <= accepted_time
  GROUP BY run, origin, number
),
passed_on AS (
  SELECT run, origin, number, min(time) AS passed_on_time
  FROM copies JOIN accepted USING (run, origin, number)
  WHERE node = home AND event IN ('forward', 'retransmit') AND time >= accepted_time
  GROUP BY run, origin, number
),
entered AS (
  -- while the sender's own hand-off is under way its station keeps what it sends
  SELECT
    run, origin, number,
    max(
      CASE WHEN begin_time <= accepted_time AND accepted_time < end_time
        THEN least(end_time, coalesce(passed_on_time, end_time))
        ELSE accepted_time
      END
    ) AS entered_time
  FROM accepted
  LEFT JOIN passed_on USING (run, origin, number)
  LEFT JOIN (
    SELECT run, station AS home, host AS origin, begin_time, end_time FROM handoffs
  ) USING (run, home, origin)
  GROUP BY run, origin, number
),
lowered AS (
  SELECT
    run, origin, number, mine.node,
    min(time)                                           AS lowered_time,
    min_by(copies.node, time)                           AS first_station,
    max(time) FILTER (WHERE time <= mine.received_time) AS repeated_time
  FROM mine
  JOIN copies USING (run, origin, number)
  WHERE copies.peer = mine.node AND copies.event IN ('forward', 'retransmit')
  GROUP BY run, origin, number, mine.node
),
arrived AS (
  -- by wire at the station that sent it down first, or at the one that handed it over to that one
  SELECT
    run, origin, number, lowered.node,
    coalesce(max(time) FILTER (WHERE copies.node = first_station), max(time)) AS arrived_time,
    coalesce(
      max_by(control_bytes, time) FILTER (WHERE copies.node = first_station),
      max_by(control_bytes, time)
    )                                                                         AS wired_header_bytes,
    coalesce(
      max_by(cpu_ns, time) FILTER (WHERE copies.node = first_station), max_by(cpu_ns, time)
    )                                                                         AS wired_cpu_ns
  FROM lowered
  JOIN copies USING (run, origin, number)
  JOIN (SELECT run, node AS peer, role FROM roles WHERE role = 'mss') USING (run, peer)
  WHERE event = 'receive' AND time <= lowered_time
  GROUP BY run, origin, number, lowered.node
),
absences AS (
  -- a host that is off the air by its own will: nothing that its station keeps is held for order
  SELECT run, host AS node, end_time AS off_time, back_time
  FROM (
    SELECT *, lead(start_time) OVER (PARTITION BY run, host ORDER BY start_time) AS back_time
    FROM stays
  )
  WHERE disconnects
),
instants AS (
  SELECT
    mine.*,
    coalesce(raised_time, sent_time)                                   AS raised_time,
    coalesce(accepted_time, sent_time)                                 AS accepted_time,
    coalesce(entered_time, sent_time)                                  AS entered_time,
    least(greatest(arrived_time, coalesce(entered_time, sent_time)), lowered_time) AS arrived_time,
    lowered_time,
    repeated_time,
    up_header_bytes, wired_header_bytes,
    up_cpu_ns, wired_cpu_ns
  FROM mine
  LEFT JOIN accepted USING (run, origin, number)
  LEFT JOIN raised USING (run, origin, number)
  LEFT JOIN entered USING (run, origin, number)
  LEFT JOIN lowered USING (run, origin, number, node)
  LEFT JOIN arrived USING (run, origin, number, node)
),
away AS (
  SELECT
    run, origin, number, node,
    sum(greatest(0, least(lowered_time, back_time) - greatest(arrived_time, off_time))) AS away_ns
  FROM (
    SELECT run, origin, number, node, lowered_time,
      coalesce(arrived_time, entered_time) AS arrived_time
    FROM instants
  )
  JOIN absences USING (run, node)
  GROUP BY run, origin, number, node
)
SELECT
  run, origin, number, node, measured, sent_time, delivered_time, delay_ns,
  (raised_time - sent_time) + (entered_time - accepted_time)
    + coalesce(repeated_time - lowered_time, 0) + coalesce(away_ns, 0)                AS handoff_ns,
  CASE
    WHEN lowered_time IS NULL THEN received_time - entered_time + accepted_time - raised_time
    ELSE (accepted_time - raised_time) + (received_time - repeated_time)
  END                                                                                 AS air_ns,
  coalesce(coalesce(arrived_time, entered_time) - entered_time, 0)                    AS wired_ns,
  coalesce(lowered_time - coalesce(arrived_time, entered_time), 0)
    + coalesce(waited_ns, 0) - coalesce(away_ns, 0)                                   AS held_ns,
  coalesce(wired_header_bytes, 0)                                                     AS wired_header_bytes,
  coalesce(up_header_bytes, 0) + coalesce(control_bytes, 0)                           AS air_header_bytes,
  coalesce(up_cpu_ns, 0) + coalesce(wired_cpu_ns, 0)                                  AS cpu_ns
FROM instants
LEFT JOIN away USING (run, origin, number, node)
