-- Question: where does a message spend its time on its way from host to host?
-- Grain:    one row per mobile run and part of the way, of what was sent after the warm-up
-- Reads:    runs, journeys
WITH means AS (
  SELECT
    run,
    avg(air_ns) AS air, avg(wired_ns) AS wired, avg(held_ns) AS held, avg(handoff_ns) AS handoff
  FROM journeys
  WHERE measured
  GROUP BY run
)
SELECT run, algorithm, part.place, part.name AS part, part.mean / 1e6 AS ms_mean
FROM (
  SELECT run, explode(array(
    struct(1 AS place, 'air' AS name, air AS mean),
    struct(2 AS place, 'wires' AS name, wired AS mean),
    struct(3 AS place, 'held for order' AS name, held AS mean),
    struct(4 AS place, 'hand-off or away' AS name, handoff AS mean)
  )) AS part
  FROM means
)
JOIN runs USING (run)
ORDER BY run, place
