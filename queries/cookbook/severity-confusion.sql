-- How often does a metric give a marked error the same severity? Pairs of a marked and a predicted span that overlap,
-- by the severities of both.
SELECT
  g.testset,
  g.lp,
  p.scorer AS metric,
  g.severity_class AS marked,
  p.severity_class AS predicted,
  count(*) AS n_pairs,
  count(*) / sum(count(*)) OVER (PARTITION BY g.testset, g.lp, g.scorer, p.scorer, g.severity_class) AS share
FROM spans AS g
JOIN spans AS p ON p.testset = g.testset AND p.lp = g.lp AND p.system = g.system AND p.segment = g.segment
  AND p.side = g.side AND p.span_start < g.span_end AND g.span_start < p.span_end
WHERE g.kind = 'human' AND g.status = 'valid' AND p.kind = 'metric'
GROUP BY g.testset, g.lp, g.scorer, p.scorer, g.severity_class, p.severity_class
ORDER BY g.testset, g.lp, metric, marked, predicted
LIMIT 30
