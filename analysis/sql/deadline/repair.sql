-- Question: what do solicitations and replies cost, and what do they bring?
-- Grain:    one row per run with deadlines; packets over the whole run
-- Reads:    runs, hops, fates
-- A delivery is repaired if the first copy that arrived was a reply; its latency is from the send.
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
repaired AS (
  SELECT
    run,
    count_if(losses > 0)                                                      AS with_a_loss,
    count_if(losses > 0 AND fate = 'delivered')                               AS lost_and_delivered,
    count_if(fate = 'delivered' AND array_contains(repair_packets, received_as)) AS repaired,
    avg(received_time - sent_time) FILTER (
      WHERE fate = 'delivered' AND array_contains(repair_packets, received_as))  AS latency,
    avg(received_time - sent_time) FILTER (
      WHERE fate = 'delivered' AND NOT array_contains(repair_packets, received_as)) AS direct
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
  latency / 1e6                                      AS repaired_arrival_ms_mean,
  direct / 1e6                                       AS direct_arrival_ms_mean
FROM runs
JOIN messages_sent USING (run)
LEFT JOIN packets USING (run)
LEFT JOIN repaired USING (run)
ORDER BY run
