-- Question: how full are the buffers in which members keep messages?
-- Grain:    one row per run with deadlines whose algorithm keeps messages, after the warm-up
-- Reads:    runs, events
SELECT
  run, algorithm, n,
  avg(buffer_bytes) / 1e6                                   AS buffer_megabytes_mean,
  percentile_approx(buffer_bytes, 0.99, :accuracy) / 1e6    AS buffer_megabytes_p99,
  max(buffer_bytes) / 1e6                                   AS buffer_megabytes_max,
  count_if(reason = 'no_room')                              AS refused_for_want_of_room
FROM events
JOIN runs USING (run)
WHERE buffer_bytes IS NOT NULL
  AND (coalesce(warmup_until, 0) = 0 OR time > warmup_until)
GROUP BY run, algorithm, n
ORDER BY run
