-- Do annotators mark the same kinds of errors? Share of each category among an annotator's errors in valid
-- judgements, where they have one.
SELECT
  testset,
  lp,
  coalesce(rater, 'not known') AS annotator,
  split_part(category, '/', 1) AS category,
  count(*) AS n_errors,
  count(*) / sum(count(*)) OVER (PARTITION BY testset, lp, rater) AS share
FROM spans
WHERE kind = 'human' AND status = 'valid' AND category IS NOT NULL AND severity_class IS DISTINCT FROM 'no-error'
GROUP BY testset, lp, rater, split_part(category, '/', 1)
ORDER BY testset, lp, annotator, n_errors DESC, category
LIMIT 30
