-- Question: which share of messages has arrived, and is delivered, within a given time?
-- Grain:    one row per run and percentile, of what was sent after the warm-up and delivered
-- Reads:    runs, messages
WITH points AS (
  SELECT
    run,
    sequence(1, 99)                                                               AS percents,
    percentile_approx(delay_ns, :shares, :accuracy)                               AS delays,
    percentile_approx(received_time - sent_time, :shares, :accuracy)              AS transits
  FROM messages
  WHERE measured AND delay_ns IS NOT NULL
  GROUP BY run
),
pairs AS (
  SELECT run, explode(arrays_zip(percents, delays, transits)) AS point FROM points
)
SELECT
  run, algorithm,
  point.percents        AS percent,
  point.delays / 1e6    AS delay_ms,
  point.transits / 1e6  AS transit_ms
FROM pairs JOIN runs USING (run)
ORDER BY run, percent
