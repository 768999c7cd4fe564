-- How good is the best metric of each kind, and how many language pairs does a kind win?
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
),
best AS (
  SELECT
    year,
    testset,
    lp,
    kind,
    arg_max(base_metric, pearson) AS best,
    max(pearson) AS pearson,
    max(pearson) = max(max(pearson)) OVER (PARTITION BY testset, lp) AS is_winner
  FROM agreement
  GROUP BY year, testset, lp, kind
)
SELECT
  b.year,
  b.kind,
  count(*) AS n_lps,
  avg(b.pearson ORDER BY b.testset, b.lp) AS mean_of_best,
  count(*) FILTER (WHERE b.is_winner) AS n_won,
  mode(b.best ORDER BY b.best) AS most_often
FROM best AS b
GROUP BY ALL
ORDER BY b.year, mean_of_best DESC
