-- How often do two systems have the same human score on a segment?
WITH valued AS (
  SELECT testset, lp, human, segment, value, count(*) AS n
  FROM human_scores
  WHERE value IS NOT NULL
  GROUP BY ALL
),
paired AS (
  SELECT testset, lp, human, segment, sum(n * (n - 1) / 2) AS n_tied, sum(n) * (sum(n) - 1) / 2 AS n_pairs
  FROM valued
  GROUP BY ALL
)
SELECT testset, lp, human, sum(n_pairs)::BIGINT AS n_pairs, sum(n_tied) / nullif(sum(n_pairs), 0) AS share_tied
FROM paired
GROUP BY ALL
HAVING n_pairs > 0
ORDER BY share_tied DESC, testset, lp, human
