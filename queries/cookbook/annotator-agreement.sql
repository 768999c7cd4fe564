-- How well do two annotators of the same output agree?
SELECT
  testset,
  lp,
  human,
  count(*) AS n_pairs,
  corr(value_a, value_b) AS pearson,
  avg(abs(value_a - value_b)) AS mean_difference,
  avg((value_a = value_b)::INTEGER) AS share_equal
FROM judgement_pairs
GROUP BY ALL
ORDER BY testset, lp, human
