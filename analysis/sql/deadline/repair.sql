-- Question: what do solicitations and replies cost, and what do they bring?
-- Grain:    one row per run with deadlines; packets over the whole run
-- Reads:    runs, hops, fates
-- A delivery is repaired if the first copy that arrived was a reply; its latency is from the send.
-- A round trip is from a solicitation to the next answer of that peer, where no other one is open;
-- beside it twice the time that a message takes one way in the same run.
WITH messages_sent AS (
  SELECT run, count(DISTINCT origin, number) AS messages FROM fates GROUP BY run
),
packets AS (
  SELECT
    run,
    count_if(origin IS NULL)                                   AS solicitations,
    sum(bytes) FILTER (WHERE origin IS NULL)                   AS solicitation_bytes,
    count_if(origin IS NOT NULL)                               AS replies,
    sum(bytes) FILTER (WHERE origin IS NOT NULL)               AS reply_bytes
  FROM hops JOIN runs USING (run)
  WHERE array_contains(repair_packets, packet)
  GROUP BY run
),
asked_and_answered AS (
  SELECT run, node, peer, event, time, seq
  FROM events JOIN runs USING (run)
  WHERE (event = 'repair' AND packet = try_element_at(repair_packets, 1))
    OR (event = 'receive' AND packet <> try_element_at(repair_packets, 1) AND array_contains(repair_packets, packet))
),
in_turn AS (
  SELECT
    run, event, time,
    lag(time)     OVER (PARTITION BY run, node, peer ORDER BY seq) AS before_time,
    lag(event)    OVER (PARTITION BY run, node, peer ORDER BY seq) AS before,
    lag(event, 2) OVER (PARTITION BY run, node, peer ORDER BY seq) AS long_before
  FROM asked_and_answered
),
round_trips AS (
  SELECT
    run,
    percentile_approx(time - before_time, array(0.50, 0.99), :accuracy) AS points
  FROM in_turn
  WHERE event = 'receive' AND before = 'repair' AND long_before IS DISTINCT FROM 'repair'
  GROUP BY run
),
repaired AS (
  SELECT
    run,
    count_if(losses > 0)                                                      AS with_a_loss,
    count_if(losses > 0 AND fate = 'delivered')                               AS lost_and_delivered,
    count_if(fate = 'delivered' AND array_contains(repair_packets, received_as)) AS repaired,
    avg(received_time - sent_time) FILTER (
      WHERE fate = 'delivered' AND array_contains(repair_packets, received_as))  AS latency,
    avg(received_time - sent_time) FILTER (
      WHERE fate = 'delivered' AND NOT array_contains(repair_packets, received_as)) AS direct,
    2 * percentile_approx(received_time - sent_time, 0.50, :accuracy) FILTER (
      WHERE NOT array_contains(repair_packets, received_as))                     AS own_round_trip
  FROM fates JOIN runs USING (run)
  WHERE measured
  GROUP BY run
)
SELECT
  run, algorithm, n,
  solicitations,
  try_divide(solicitations, messages)                AS solicitations_per_message,
  solicitation_bytes,
  replies,
  try_divide(replies, messages)                      AS replies_per_message,
  reply_bytes,
  100 * try_divide(lost_and_delivered, with_a_loss)  AS delivered_in_spite_of_a_loss_percent,
  repaired                                           AS repaired_deliveries,
  points[0] / 1e6                                    AS round_trip_ms_p50,
  points[1] / 1e6                                    AS round_trip_ms_p99,
  own_round_trip / 1e6                               AS network_round_trip_ms_p50,
  latency / 1e6                                      AS repaired_arrival_ms_mean,
  direct / 1e6                                       AS direct_arrival_ms_mean
FROM runs
JOIN messages_sent USING (run)
LEFT JOIN packets USING (run)
LEFT JOIN repaired USING (run)
LEFT JOIN round_trips USING (run)
ORDER BY run
