-- On which kinds of errors do annotators agree? Marked errors with a place that overlap one of another annotator of the
-- output, by top category.
WITH other AS (
  SELECT g.*, o.annotation AS other
  FROM spans AS g
  JOIN annotations AS o ON o.testset = g.testset AND o.lp = g.lp AND o.system = g.system AND o.segment = g.segment
    AND o.annotation <> g.annotation
  WHERE g.kind = 'human' AND o.kind = 'human' AND g.status = 'valid' AND o.status = 'valid'
    AND g.span_end > g.span_start
)
SELECT
  m.testset, m.lp, m.scorer AS human, split_part(m.category, '/', 1) AS category, count(*) AS n_compared,
  avg((
    EXISTS (
      FROM spans AS o
      WHERE o.annotation = m.other AND o.side = m.side AND o.span_start < m.span_end AND m.span_start < o.span_end
    )
  )::INTEGER) AS share_found
FROM other AS m
GROUP BY m.testset, m.lp, m.scorer, split_part(m.category, '/', 1)
ORDER BY m.testset, m.lp, human, n_compared DESC, category
LIMIT 40
