-- Does a metric predict more errors than annotators mark? By system and length of the output, in outputs that have both.
SELECT
  s.testset,
  s.lp,
  s.scorer AS metric,
  s.system,
  CASE WHEN length(x.text) < 50 THEN 'below 50' WHEN length(x.text) < 150 THEN '50 to 149' ELSE '150 or more' END
    AS characters,
  count(*) AS n_outputs,
  avg(s.n_gold) AS marked,
  avg(s.n_predicted) AS predicted,
  avg(s.n_predicted - s.n_gold) AS more
FROM span_scores AS s
JOIN texts AS x ON x.testset = s.testset AND x.lp = s.lp AND x.kind = 'output' AND x.name = s.system
  AND x.segment = s.segment
WHERE s.kind = 'metric'
GROUP BY ALL
ORDER BY more DESC, s.testset, s.lp, metric, s.system, characters
LIMIT 20
