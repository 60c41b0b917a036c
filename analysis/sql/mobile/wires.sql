-- Question: what does a message cost on the wires between stations?
-- Grain:    one row per mobile run, warm-up included
-- Reads:    runs, events, hops
-- `copies` carry a message; the header is what such a copy carries beside its payload. All other
-- packets (hand-offs, acknowledgements, deletions) are counted in `packets` with the copies.
WITH sends AS (
  SELECT run, count(*) AS messages
  FROM events
  WHERE event = 'send' AND run IN (SELECT run FROM events WHERE role = 'mh')
  GROUP BY run
),
wired AS (
  SELECT
    run,
    count(*)                                              AS packets,
    sum(bytes)                                            AS bytes,
    count(origin)                                         AS copies,
    avg(control_ints)  FILTER (WHERE origin IS NOT NULL)  AS header_ints_mean,
    max(control_ints)  FILTER (WHERE origin IS NOT NULL)  AS header_ints_max,
    avg(control_bytes) FILTER (WHERE origin IS NOT NULL)  AS header_bytes_mean
  FROM hops
  WHERE medium = 'wire'
  GROUP BY run
),
repeated AS (
  SELECT
    run,
    count_if(event = 'retransmit')                          AS retransmissions,
    count_if(event = 'discard' AND reason = 'duplicate')    AS duplicates_suppressed,
    count_if(event = 'discard' AND reason = 'disconnected') AS dropped_while_disconnected
  FROM events
  GROUP BY run
)
SELECT
  run, algorithm,
  messages,
  header_ints_mean, header_ints_max, header_bytes_mean,
  copies / messages   AS copies_per_message,
  packets / messages  AS packets_per_message,
  bytes / messages    AS bytes_per_message,
  retransmissions, duplicates_suppressed, dropped_while_disconnected
FROM runs
JOIN sends USING (run)
LEFT JOIN wired USING (run)
LEFT JOIN repeated USING (run)
ORDER BY run
