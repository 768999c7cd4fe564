-- Which errors does each system make? Errors in 100 valid judgements, by top category (NULL where annotators
-- gave none).
WITH judged AS (
  SELECT testset, lp, human, system, count(*) AS n_judgements
  FROM judgements
  WHERE status = 'valid'
  GROUP BY ALL
)
SELECT
  r.testset, r.lp, r.system, split_part(r.category, '/', 1) AS category, count(*) AS n_errors,
  100 * count(*) / any_value(j.n_judgements) AS errors_in_100, avg((r.severity_class = 'major')::INTEGER) AS share_major
FROM spans AS r
JOIN judged AS j ON j.testset = r.testset AND j.lp = r.lp AND j.human = r.scorer AND j.system = r.system
WHERE r.kind = 'human' AND r.status = 'valid' AND r.severity_class IS DISTINCT FROM 'no-error'
GROUP BY ALL
ORDER BY errors_in_100 DESC, r.testset, r.lp, r.system, category
LIMIT 20
