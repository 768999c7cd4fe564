-- Spans of a slice that measures compare: with a place and a severity, cut at the end of their text where it is loaded.
-- Params: $evalset, $scorers and $systems (lists of identifiers), $segments (list). One row per span, in a fixed order.
SELECT
  r.judgement_id,
  coalesce(r.is_source_error, false) AS is_in_source,
  r.span_start,
  least(r.span_end, coalesce(length(x.text), r.span_end)) AS span_end,
  r.severity_class <> 'minor' AS is_major,
  coalesce(r.category, '') AS category
FROM vector AS v
JOIN system AS y ON y.system_id = v.system_id
JOIN judgement AS j ON j.vector_id = v.vector_id AND j.status = 'valid'
JOIN span AS r ON r.judgement_id = j.judgement_id
LEFT JOIN segment_text AS x ON x.evalset_id = v.evalset_id AND x.segment = j.segment
  AND CASE WHEN coalesce(r.is_source_error, false) THEN x.kind = 'source' ELSE x.kind = 'output' AND x.name = y.name END
WHERE v.evalset_id = $evalset AND v.level = 'seg'
  AND v.scorer_id IN (SELECT unnest($scorers::INTEGER[]))
  AND v.system_id IN (SELECT unnest($systems::INTEGER[]))
  AND j.segment IN (SELECT unnest($segments::INTEGER[]))
  AND r.severity_class IN ('minor', 'major', 'critical')
  AND least(r.span_end, coalesce(length(x.text), r.span_end)) > r.span_start
ORDER BY r.judgement_id, r.rowid;
