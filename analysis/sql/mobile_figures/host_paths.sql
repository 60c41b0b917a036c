-- Question: which cells did the hosts that saw most cells go through, and when?
-- Grain:    one row per stay of one of these hosts, of the first mobile run
-- Reads:    runs, stays, movers
SELECT
  run, host, rank, station,
  station % coalesce(columns, 1)   AS column_number,
  station DIV coalesce(columns, 1) AS row_number,
  start_time / 1e9                 AS start_s,
  end_time / 1e9                   AS end_s,
  disconnects
FROM stays
JOIN movers USING (run, host)
JOIN runs USING (run)
WHERE rank <= :hosts_shown
ORDER BY rank, start_s
