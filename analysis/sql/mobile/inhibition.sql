-- Question: how long are messages held although no host would have got them out of causal order?
-- Grain:    one row per mobile run with stations, of all that stations let go to hosts
-- Reads:    runs, inhibition
-- AV section 5.3 names it as the drawback of ordering among stations instead of hosts.
SELECT
  run, algorithm,
  count(*)                                                           AS released,
  count_if(released - arrived > 0)                                   AS waited,
  count_if(inhibited > 0)                                            AS inhibited,
  100 * avg(CAST(inhibited > 0 AS INT))                              AS inhibited_percent,
  avg(inhibited) / 1e6                                               AS inhibited_ms_mean_of_all,
  avg(inhibited) FILTER (WHERE inhibited > 0) / 1e6                  AS inhibited_ms_mean,
  percentile_approx(inhibited, 0.99, :accuracy) FILTER (WHERE inhibited > 0) / 1e6
                                                                     AS inhibited_ms_p99
FROM inhibition
JOIN runs USING (run)
GROUP BY run, algorithm
ORDER BY run
