-- Question: which cells did the hosts that saw most cells go through, and when?
-- Grain:    one row per stay of one of these hosts, of the first mobile run
-- Reads:    runs, stays
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
