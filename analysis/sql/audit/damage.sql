-- Question: does a trace contradict itself, so that no verdict can be given?
-- Grain:    one row: the first contradiction; none where all is well
-- Reads:    events
WITH places AS (
  SELECT
    run, node, seq,
    count(*)           AS events,
    count(event)       AS named_events,
    min(event) FILTER (
      WHERE (event IN ('send', 'deliver') AND (origin IS NULL OR number IS NULL))
         OR (event IN ('receive', 'forward', 'discard') AND origin IS NOT NULL AND number IS NULL)
    )                  AS nameless
  FROM events
  GROUP BY run, node, seq
),
found AS (
  SELECT
    run, node, seq,
    CASE
      WHEN node IS NULL THEN 'column ''node'' of the trace has empty places; every row needs it'
      WHEN seq IS NULL THEN 'column ''seq'' of the trace has empty places; every row needs it'
      WHEN named_events < events
        THEN 'column ''event'' of the trace has empty places; every row needs it'
      WHEN events > 1
        THEN format_string('node %d has two events with seq %d; seq must be unique', node, seq)
      WHEN nameless IS NOT NULL
        THEN format_string('node %d, seq %d: %s does not name its message', node, seq, nameless)
    END AS sentence
  FROM places
)
SELECT run, sentence
FROM found
WHERE sentence IS NOT NULL
ORDER BY run, node, seq
LIMIT 1
