-- Question: where does a message spend its time on its way from host to host?
-- Grain:    one row per mobile run, of what was sent after the warm-up and delivered
-- Reads:    runs, journeys
-- Air, wires, hold-back and hand-off add up to the delay. Of it, `header` is what the control
-- information costs: its bits on the links it crossed, and the algorithm's processor time (live).
SELECT
  run, algorithm,
  count(*)                          AS deliveries,
  avg(delay_ns) / 1e6               AS delay_ms_mean,
  percentile_approx(delay_ns, 0.50, :accuracy) / 1e6 AS delay_ms_p50,
  percentile_approx(delay_ns, 0.99, :accuracy) / 1e6 AS delay_ms_p99,
  avg(air_ns) / 1e6                 AS air_ms_mean,
  avg(wired_ns) / 1e6               AS wired_ms_mean,
  avg(held_ns) / 1e6                AS held_ms_mean,
  avg(handoff_ns) / 1e6             AS handoff_ms_mean,
  avg(8e3 * wired_header_bytes / wired_bits_per_second
    + 8e3 * air_header_bytes / air_bits_per_second) AS header_transmission_ms_mean,
  CASE WHEN any_value(engine) = 'ray' THEN avg(cpu_ns) / 1e6 END AS header_processing_ms_mean
FROM journeys
JOIN runs USING (run)
WHERE measured
GROUP BY run, algorithm
ORDER BY run
