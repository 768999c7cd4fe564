-- Which systems were judged by two protocols, and do the protocols agree?
SELECT
  testset,
  lp,
  human_a,
  human_b,
  count(*) AS n_systems,
  corr(score_a, score_b) AS pearson,
  pairwise_accuracy(list(score_a ORDER BY system), list(score_b ORDER BY system)) AS pairwise_accuracy
FROM human_pairs
WHERE system_kind = 'mt'
GROUP BY ALL
ORDER BY testset, lp, human_a, human_b
