-- Question: how much control information travels with a copy, and with a message?
-- Grain:    one row per run, of what was sent after the warm-up and arrived
-- Reads:    runs, messages, events
WITH per_copy AS (
  SELECT
    run,
    count(control_ints)                                                   AS copies,
    avg(control_ints)                                                     AS ints_mean,
    percentile_approx(control_ints, array(0.50, 0.95, 0.99), :accuracy)   AS ints,
    avg(control_bytes)                                                    AS bytes_mean,
    percentile_approx(control_bytes, array(0.50, 0.95, 0.99), :accuracy)  AS bytes,
    avg(payload_bytes)                                                    AS payload_bytes_mean,
    try_divide(sum(payload_bytes), sum(payload_bytes + control_bytes))    AS payload_share
  FROM messages
  WHERE measured AND control_ints IS NOT NULL
  GROUP BY run
),
per_message AS (
  -- a send row holds what all copies carry together, whether they arrived or not
  SELECT
    run,
    count(*)           AS messages,
    avg(copies)        AS copies_mean,
    avg(control_ints)  AS ints_mean,
    avg(control_bytes) AS bytes_mean
  FROM events JOIN runs USING (run)
  WHERE event = 'send' AND (coalesce(warmup_until, 0) = 0 OR time > warmup_until)
  GROUP BY run
)
SELECT
  run, algorithm, n,
  per_message.messages,
  per_copy.copies,
  per_copy.ints_mean                      AS control_ints_mean,
  ints[0]                                 AS control_ints_p50,
  ints[1]                                 AS control_ints_p95,
  ints[2]                                 AS control_ints_p99,
  100 * per_copy.ints_mean / (n * n)      AS control_percent_of_nn,
  per_copy.bytes_mean                     AS control_bytes_mean,
  bytes[0]                                AS control_bytes_p50,
  bytes[1]                                AS control_bytes_p95,
  bytes[2]                                AS control_bytes_p99,
  copies_mean                             AS copies_per_message_mean,
  per_message.ints_mean                   AS control_ints_per_message_mean,
  per_message.bytes_mean                  AS control_bytes_per_message_mean,
  payload_bytes_mean,
  100 * payload_share                     AS payload_percent
FROM runs
LEFT JOIN per_copy USING (run)
LEFT JOIN per_message USING (run)
ORDER BY run
