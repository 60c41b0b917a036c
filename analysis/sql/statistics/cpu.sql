-- Question: how much processor time does the algorithm take per send and per receive?
-- Grain:    one row per live run, after the warm-up (a simulated run records none)
-- Reads:    runs, events
SELECT
  run, algorithm, n,
  count_if(event = 'send')                                    AS sends,
  avg(cpu_ns) FILTER (WHERE event = 'send') / 1e3             AS send_us_mean,
  percentile_approx(cpu_ns, 0.50, :accuracy) FILTER (WHERE event = 'send') / 1e3    AS send_us_p50,
  percentile_approx(cpu_ns, 0.99, :accuracy) FILTER (WHERE event = 'send') / 1e3    AS send_us_p99,
  count_if(event = 'receive')                                 AS receives,
  avg(cpu_ns) FILTER (WHERE event = 'receive') / 1e3          AS receive_us_mean,
  percentile_approx(cpu_ns, 0.50, :accuracy) FILTER (WHERE event = 'receive') / 1e3 AS receive_us_p50,
  percentile_approx(cpu_ns, 0.99, :accuracy) FILTER (WHERE event = 'receive') / 1e3 AS receive_us_p99
FROM events JOIN runs USING (run)
WHERE event IN ('send', 'receive')
  AND engine = 'ray'
  AND (coalesce(warmup_until, 0) = 0 OR time > warmup_until)
GROUP BY run, algorithm, n
ORDER BY run
