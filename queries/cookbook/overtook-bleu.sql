-- Who overtook BLEU, when, and by how much? Metrics by the first year in which they agreed better with human scores than
-- BLEU on average over the language pairs that both scored.
WITH agreement AS (
  SELECT year, testset, lp, metric, base_metric, kind, count(*) AS n_systems, corr(human_score, metric_score) AS pearson
  FROM ranked_scores
  GROUP BY ALL
  HAVING isfinite(pearson)
),
gap AS (
  SELECT a.year, a.base_metric, count(*) AS n_lps, avg(a.pearson - b.pearson ORDER BY a.testset, a.lp, a.metric) AS gain
  FROM agreement AS a
  JOIN agreement AS b ON b.testset = a.testset AND b.lp = a.lp AND b.base_metric IN ('BLEU', 'simBLEU')
  WHERE a.base_metric <> b.base_metric
  GROUP BY ALL
)
SELECT
  base_metric,
  min(year) FILTER (WHERE gain > 0) AS overtook_in,
  max(year) AS last_year,
  arg_max(gain, year) AS gain_in_last_year,
  sum(n_lps) AS n_lps
FROM gap
GROUP BY ALL
HAVING overtook_in IS NOT NULL
ORDER BY overtook_in, gain_in_last_year DESC
