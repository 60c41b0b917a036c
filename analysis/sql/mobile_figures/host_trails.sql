-- Question: which way did the hosts that saw most cells go?
-- Grain:    one row per place of one of these hosts, of the first mobile run, in cells from a corner
-- Reads:    runs, movers, trails
SELECT
  run, host, rank, time / 1e9 AS time_s,
  x / cell_metres AS column_number,
  y / cell_metres AS row_number
FROM movers
JOIN (SELECT run, node AS host, time, x, y FROM trails) USING (run, host)
JOIN runs USING (run)
WHERE rank <= :hosts_shown
ORDER BY rank, time_s
