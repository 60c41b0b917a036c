-- Question: how large is the control information of a copy in the papers' own units?
-- Grain:    one row per run, of what was sent after the warm-up and arrived
-- Reads:    runs, messages
-- KS 6.2: units are destinations in log entries; entries without one are counted apart.
-- GK 2.2: 4 + |dests| + sum(3 + |entry's dests|), of which one integer per set is its count field;
--         the rule without count fields comes nearer to the percentages that GK prints.
-- PRS 7.1: tuples of the barrier as a share x of n*n; as a bit string over n*n cells the barrier
--         takes (x + 1/W) * n*n integers of W bits.
WITH sizes AS (
  SELECT
    run,
    avg(control_units)                          AS units_mean,
    percentile_approx(control_units, 0.99, :accuracy) AS units_p99,
    avg(control_entries)                        AS entries_mean,
    avg(control_empty)                          AS empty_entries_mean,
    avg(control_ints)                           AS ints_mean,
    avg(control_ints - 1 - control_entries)     AS ints_without_count_mean
  FROM messages
  WHERE measured AND control_ints IS NOT NULL
  GROUP BY run
)
SELECT
  run, algorithm, n,
  units_mean,
  units_p99,
  100 * units_mean / (n * n)                    AS units_percent_of_nn,
  entries_mean,
  empty_entries_mean,
  CASE WHEN algorithm LIKE 'ks%' THEN ints_mean END               AS gk_ints_mean,
  CASE WHEN algorithm LIKE 'ks%' THEN ints_without_count_mean END AS gk_ints_without_count_mean,
  CASE WHEN algorithm LIKE 'ks%' THEN 100 * ints_mean / (n * n) END AS gk_percent_of_nn,
  CASE WHEN algorithm LIKE 'ks%' THEN 100 * ints_without_count_mean / (n * n) END
                                                AS gk_without_count_percent_of_nn,
  CASE WHEN algorithm LIKE 'prs%' THEN units_mean + n * n / :word_bits END
                                                AS prs_bit_string_ints_mean,
  CASE WHEN algorithm LIKE 'prs%' THEN 100 * (units_mean / (n * n) + 1 / :word_bits) END
                                                AS prs_bit_string_percent_of_nn
FROM runs
LEFT JOIN sizes USING (run)
ORDER BY run
