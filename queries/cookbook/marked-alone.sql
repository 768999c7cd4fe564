-- Which errors did only one annotator or metric mark? Spans of people and metrics that overlap none of the others who looked at the
-- output, by scorer and severity.
WITH looked AS (
  SELECT s.*, a.annotation AS other
  FROM spans AS s
  JOIN annotations AS a ON a.testset = s.testset AND a.lp = s.lp AND a.system = s.system AND a.segment = s.segment
    AND a.annotation <> s.annotation
  WHERE s.status = 'valid' AND a.status = 'valid' AND s.span_end > s.span_start
), met AS (
  SELECT
    l.testset, l.lp, l.kind, l.scorer, l.severity_class, l.annotation, l.side, l.span_start, l.span_end,
    bool_or(o.annotation IS NOT NULL) AS is_met
  FROM looked AS l
  LEFT JOIN spans AS o ON o.annotation = l.other AND o.side = l.side
    AND o.span_start < l.span_end AND l.span_start < o.span_end
  GROUP BY ALL
)
SELECT
  testset, lp, kind, scorer, severity_class AS severity, count(*) AS n_spans, count(*) FILTER (NOT is_met) AS n_alone,
  avg((NOT is_met)::INTEGER) AS share_alone
FROM met
GROUP BY ALL
ORDER BY testset, lp, kind, scorer, severity
LIMIT 40
