-- Question: how does the share of messages that met their deadline depend on group, loss, deadline?
-- Grain:    one row per algorithm, group size, loss rate and mean lifetime; over its runs (seeds)
-- Reads:    runs, fates
-- The interval is that of a mean over runs, 1.96 standard errors each way; one run has none.
WITH ratios AS (
  SELECT
    run, algorithm, n, loss_rate, lifetime_ms,
    100 * count_if(fate = 'delivered') / count_if(fate <> 'receiver crashed') AS percent
  FROM fates JOIN runs USING (run)
  WHERE measured
  GROUP BY run, algorithm, n, loss_rate, lifetime_ms
)
SELECT
  algorithm, n, loss_rate, lifetime_ms,
  count(*)                                                     AS runs,
  avg(percent)                                                 AS delivered_percent,
  avg(percent) - 1.96 * stddev_samp(percent) / sqrt(count(*))  AS low,
  avg(percent) + 1.96 * stddev_samp(percent) / sqrt(count(*))  AS high
FROM ratios
GROUP BY algorithm, n, loss_rate, lifetime_ms
ORDER BY algorithm, n, loss_rate, lifetime_ms
