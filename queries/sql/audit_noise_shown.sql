-- Neighbouring values of a human score that differ only by floating-point error.
-- Params: $testset, $lp, $human. One row per pair of values.
WITH distinct_value AS (
  SELECT value, count(*) AS n_scores
  FROM human_scores
  WHERE testset = $testset AND lp = $lp AND human = $human AND value IS NOT NULL
  GROUP BY value
),
neighbour AS (
  SELECT value, n_scores, lag(value) OVER (ORDER BY value) AS below, lag(n_scores) OVER (ORDER BY value) AS n_scores_below
  FROM distinct_value
)
SELECT below, value, value - below AS gap, n_scores_below, n_scores
FROM neighbour
WHERE value - below < 1e-9 * greatest(1, abs(value))
ORDER BY value;
