-- Which kinds of errors does a metric miss? Marked errors with a place that none of its spans overlaps, in outputs that
-- it predicted.
WITH marked AS (
  SELECT g.*, p.scorer AS metric, p.annotation AS prediction
  FROM spans AS g
  JOIN annotations AS p ON p.testset = g.testset AND p.lp = g.lp AND p.system = g.system AND p.segment = g.segment
  WHERE g.kind = 'human' AND g.status = 'valid' AND g.span_end > g.span_start AND p.kind = 'metric'
)
SELECT
  m.testset, m.lp, m.metric, split_part(m.category, '/', 1) AS category, count(*) AS n_errors,
  avg((
    NOT EXISTS (
      FROM spans AS p
      WHERE p.annotation = m.prediction AND p.side = m.side
        AND p.span_start < m.span_end AND m.span_start < p.span_end
    )
  )::INTEGER) AS share_missed
FROM marked AS m
GROUP BY m.testset, m.lp, m.metric, split_part(m.category, '/', 1)
ORDER BY m.testset, m.lp, m.metric, share_missed DESC, category
LIMIT 40
