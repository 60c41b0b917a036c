-- Question: when were hosts handed over, and how long did it take?
-- Grain:    one row per hand-off of one of the hosts that saw most cells, of the first mobile run
-- Reads:    movers, handoffs
SELECT run, host, rank, station, begin_time / 1e9 AS begin_s, end_time / 1e9 AS end_s
FROM handoffs
JOIN movers USING (run, host)
WHERE rank <= :hosts_shown
ORDER BY rank, begin_s
