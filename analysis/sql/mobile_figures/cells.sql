-- Question: where were the hosts, and between which cells did they move?
-- Grain:    one row per cell of the first mobile run; `seconds` is host time spent there
-- Reads:    runs, stays
WITH first_run AS (
  SELECT min(run) AS run FROM stays
),
cells AS (
  SELECT run, columns, explode(sequence(0, stations - 1)) AS station
  FROM first_run JOIN runs USING (run)
)
SELECT
  run, station,
  station % coalesce(columns, 1)                AS column_number,
  station DIV coalesce(columns, 1)              AS row_number,
  coalesce(sum(end_time - start_time), 0) / 1e9 AS seconds,
  count(start_time)                             AS stays
FROM cells
LEFT JOIN stays USING (run, station)
GROUP BY run, station, columns
ORDER BY station
