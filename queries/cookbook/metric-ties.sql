-- Which metrics give two systems the same score most often?
WITH valued AS (
  SELECT testset, lp, metric, base_metric, segment, value, count(*) AS n
  FROM scores
  WHERE value IS NOT NULL
  GROUP BY ALL
),
paired AS (
  SELECT testset, lp, base_metric, metric, segment, sum(n * (n - 1) / 2) AS n_tied, sum(n) * (sum(n) - 1) / 2 AS n_pairs
  FROM valued
  GROUP BY ALL
)
SELECT
  base_metric, count(DISTINCT (testset, lp)) AS n_evalsets, sum(n_pairs)::BIGINT AS n_pairs,
  sum(n_tied) / nullif(sum(n_pairs), 0) AS share_tied
FROM paired
GROUP BY ALL
HAVING share_tied > 0
ORDER BY share_tied DESC, base_metric
LIMIT 20
