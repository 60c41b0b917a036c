-- Question: does a trace contradict itself, so that no verdict can be given?
-- Grain:    one row per contradiction, the first of each run first
-- Reads:    events
WITH doubled_seq AS (
  SELECT
    run, node, seq,
    format_string('node %d has two events with seq %d; seq must be unique', node, seq) AS sentence
  FROM events
  GROUP BY run, node, seq
  HAVING count(*) > 1
),
doubled_send AS (
  SELECT
    run, origin AS node, number AS seq,
    format_string('m%d.%d was sent twice; a message has one send', origin, number) AS sentence
  FROM events
  WHERE event = 'send' AND origin IS NOT NULL
  GROUP BY run, origin, number
  HAVING count(*) > 1
)
SELECT run, sentence
FROM (SELECT *, 0 AS kind FROM doubled_seq UNION ALL SELECT *, 1 AS kind FROM doubled_send)
ORDER BY run, kind, node, seq
LIMIT 1
