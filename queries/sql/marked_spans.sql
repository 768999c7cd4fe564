-- Errors that people marked in some segments of an evaluation set, for one human score, and that metrics predicted.
-- Params: $evalset, $human, $metrics (list), $segments (list). One row per error of a valid annotation, in a fixed order.
SELECT
  y.name AS system,
  j.segment,
  j.rater,
  r.category,
  r.severity_class AS severity,
  r.weight,
  r.span_start,
  r.span_end,
  coalesce(r.is_source_error, false) AS is_in_source,
  CASE sc.kind WHEN 'metric' THEN sc.name END AS metric
FROM span AS r
JOIN judgement AS j ON j.judgement_id = r.judgement_id AND j.status = 'valid'
JOIN vector AS v ON v.vector_id = j.vector_id AND v.evalset_id = $evalset AND v.level = 'seg'
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
  AND CASE sc.kind WHEN 'human' THEN sc.name = $human ELSE sc.name IN (SELECT unnest($metrics::VARCHAR[])) END
JOIN system AS y ON y.system_id = v.system_id
WHERE j.segment IN (SELECT unnest($segments::INTEGER[]))
ORDER BY y.name, j.segment, sc.kind, sc.name, j.judgement_id, r.span_start NULLS LAST, r.span_end, r.severity_class, r.category;
