-- Question: which share of messages met their deadline, and why did the others not?
-- Grain:    one row per run with deadlines, of what was sent after the warm-up
-- Reads:    runs, fates
-- Nothing is owed to a receiver that crashed before the deadline. Shares are of what is owed, and
-- with `delivered` they add up to 100. `delivered` is Ahn's Ratio_delivered.
WITH counted AS (
  SELECT
    run,
    count_if(fate <> 'receiver crashed')       AS owed,
    count_if(fate = 'delivered')               AS delivered,
    count_if(fate = 'lost')                    AS lost,
    count_if(fate = 'arrived late')            AS arrived_late,
    count_if(fate = 'held too long')           AS held_too_long,
    count_if(fate = 'successor delivered')     AS successor_delivered,
    count_if(fate = 'clock error')             AS clock_error,
    count_if(fate = 'sender crashed')          AS sender_crashed,
    count_if(fate = 'no room')                 AS no_room,
    count_if(fate = 'delivered late')          AS delivered_late,
    count_if(fate = 'unexplained')             AS unexplained,
    count_if(fate = 'receiver crashed')        AS not_owed,
    avg(slack_ns)  FILTER (WHERE fate = 'delivered')  AS slack_mean,
    percentile_approx(slack_ns, 0.05, :accuracy) FILTER (WHERE fate = 'delivered') AS slack_p05,
    avg(delay_ns)  FILTER (WHERE fate = 'delivered')  AS delay_mean,
    percentile_approx(delay_ns, 0.50, :accuracy) FILTER (WHERE fate = 'delivered') AS delay_p50,
    percentile_approx(delay_ns, 0.99, :accuracy) FILTER (WHERE fate = 'delivered') AS delay_p99
  FROM fates
  WHERE measured
  GROUP BY run
)
SELECT
  run, algorithm, n,
  owed,
  100 * try_divide(delivered, owed)            AS delivered_percent,
  100 * try_divide(lost, owed)                 AS missed_lost_percent,
  100 * try_divide(arrived_late, owed)         AS missed_arrived_late_percent,
  100 * try_divide(held_too_long, owed)        AS missed_held_too_long_percent,
  100 * try_divide(successor_delivered, owed)  AS missed_successor_delivered_percent,
  100 * try_divide(clock_error, owed)          AS missed_clock_error_percent,
  100 * try_divide(sender_crashed, owed)       AS missed_sender_crashed_percent,
  100 * try_divide(no_room, owed)              AS missed_no_room_percent,
  100 * try_divide(delivered_late, owed)       AS missed_delivered_late_percent,
  100 * try_divide(unexplained, owed)          AS missed_unexplained_percent,
  not_owed                                     AS not_owed_receiver_crashed,
  delay_mean / 1e6                             AS responsiveness_ms_mean,
  delay_p50 / 1e6                              AS responsiveness_ms_p50,
  delay_p99 / 1e6                              AS responsiveness_ms_p99,
  slack_mean / 1e6                             AS slack_ms_mean,
  slack_p05 / 1e6                              AS slack_ms_p05
FROM runs
JOIN counted USING (run)
ORDER BY run
