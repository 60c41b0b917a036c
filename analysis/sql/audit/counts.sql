-- Question: how much was sent, owed, delivered, repeated, foreign, held and given up for nothing?
-- Grain:    one row per run
-- Reads:    judged, waivers, runs
WITH pairs AS (
  -- a message at a node has at most one arrival and one delivery that count
  SELECT
    run,
    max(CASE WHEN kind = 1 THEN seq END)  AS arrived_seq,
    max(CASE WHEN kind = 1 THEN time END) AS arrived_time,
    max(CASE WHEN kind = 2 THEN seq END)  AS delivered_seq,
    max(CASE WHEN kind = 2 THEN time END) AS delivered_time
  FROM judged
  WHERE kind IN (1, 2) AND judgement = 'counted'
  GROUP BY run, node, origin, number
),
waits AS (
  SELECT run, delivered_time - arrived_time AS waited_ns
  FROM pairs
  WHERE arrived_seq < delivered_seq AND arrived_time < delivered_time
  UNION ALL
  -- a station passes a copy on later than it came
  SELECT run, forwards.time - arrivals.time
  FROM (SELECT * FROM judged WHERE kind = 3 AND judgement = 'counted') AS forwards
  JOIN (SELECT * FROM judged WHERE kind = 1 AND judgement IN ('counted', 'passing')) AS arrivals
    USING (run, node, origin, number)
  WHERE arrivals.seq < forwards.seq AND arrivals.time < forwards.time
),
given_up AS (
  SELECT run, count_if(is_groundless) AS groundless FROM waivers GROUP BY run
),
held AS (
  SELECT run, count(*) AS held, sum(waited_ns) AS held_ns_total, max(waited_ns) AS held_ns_max
  FROM waits
  GROUP BY run
),
counted AS (
  SELECT
    run,
    count_if(kind = 0 AND judgement = 'counted')                          AS messages,
    sum(CASE WHEN kind = 0 AND judgement = 'counted' THEN size(array_distinct(dests)) END)
                                                                          AS owed,
    count_if(kind = 2 AND judgement = 'counted')                          AS delivered,
    count_if(kind IN (0, 2) AND judgement = 'repeated')                   AS duplicates,
    count_if(kind = 2 AND judgement IN ('never sent', 'not addressed'))   AS strangers,
    count_if(judgement = 'unrecorded')                                    AS unrecorded,
    count_if(kind = 1 AND judgement IN ('counted', 'passing')) > 0        AS saw_receives
  FROM judged
  GROUP BY run
)
SELECT
  run,
  coalesce(status, 'complete') = 'complete' AS complete,
  coalesce(messages, 0)        AS messages,
  coalesce(owed, 0)            AS owed,
  coalesce(delivered, 0)       AS delivered,
  coalesce(duplicates, 0)      AS duplicates,
  coalesce(strangers, 0)       AS strangers,
  coalesce(unrecorded, 0)      AS unrecorded,
  coalesce(groundless, 0)      AS groundless,
  coalesce(saw_receives, false) AS saw_receives,
  coalesce(held, 0)            AS held,
  coalesce(held_ns_total, 0)   AS held_ns_total,
  coalesce(held_ns_max, 0)     AS held_ns_max
FROM runs
LEFT JOIN counted USING (run)
LEFT JOIN held USING (run)
LEFT JOIN given_up USING (run)
ORDER BY run
