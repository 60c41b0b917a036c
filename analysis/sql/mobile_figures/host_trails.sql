-- Question: which way did the hosts that saw most cells go?
-- Grain:    one row per place of one of these hosts, of the first mobile run, in cells from a corner
-- Reads:    runs, stays, trails
WITH first_run AS (
  SELECT min(run) AS run FROM stays
),
movers AS (
  SELECT run, host, row_number() OVER (
    ORDER BY count(DISTINCT station) DESC, count(*) DESC, host
  ) AS rank
  FROM stays JOIN first_run USING (run)
  GROUP BY run, host
)
SELECT
  run, host, rank, time / 1e9 AS time_s,
  x / cell_metres AS column_number,
  y / cell_metres AS row_number
FROM movers
JOIN (SELECT run, node AS host, time, x, y FROM trails) USING (run, host)
JOIN runs USING (run)
WHERE rank <= :hosts_shown
ORDER BY rank, time_s
