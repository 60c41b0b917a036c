-- Question: what did the network do to copies, and what did the reliable link cost?
-- Grain:    one row per run, warm-up included
-- Reads:    runs, events
-- A retransmission has no message of its own, so a drop with one is of a first transmission.
WITH counted AS (
  SELECT
    run,
    coalesce(sum(copies) FILTER (WHERE event = 'send'), 0)           AS copies,
    coalesce(sum(control_bytes + copies * payload_bytes) FILTER (WHERE event = 'send'), 0)
                                                                     AS copy_bytes,
    count_if(event = 'receive')                                      AS received,
    count_if(event = 'drop')                                         AS drops,
    count_if(event = 'duplicate')                                    AS duplicates,
    count_if(event = 'malformed')                                    AS malformed,
    count_if(event = 'discard')                                      AS discarded,
    count_if(event = 'retransmit')                                   AS retransmissions,
    coalesce(sum(control_bytes) FILTER (WHERE event = 'retransmit'), 0)  AS retransmission_bytes,
    count_if(event = 'acknowledge')                                  AS acknowledgements,
    coalesce(sum(control_bytes) FILTER (WHERE event = 'acknowledge'), 0) AS acknowledgement_bytes
  FROM events
  GROUP BY run
)
SELECT
  run, algorithm,
  copies, copy_bytes, received, drops, duplicates, malformed, discarded,
  retransmissions, retransmission_bytes,
  acknowledgements, acknowledgement_bytes,
  100 * try_divide(retransmission_bytes + acknowledgement_bytes, copy_bytes)
    AS reliable_link_percent_of_copy_bytes
FROM runs
LEFT JOIN counted USING (run)
ORDER BY run
