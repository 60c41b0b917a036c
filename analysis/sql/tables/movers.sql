-- Question: which hosts of the first mobile run saw most cells?
-- Grain:    one row per host of that run, `rank` from 1
-- Reads:    stays
-- Itineraries are the same for all algorithms of an experiment: one run stands for all.
SELECT
  run, host,
  row_number() OVER (ORDER BY count(DISTINCT station) DESC, count(*) DESC, host) AS rank
FROM stays
JOIN (SELECT min(run) AS run FROM stays) USING (run)
GROUP BY run, host
