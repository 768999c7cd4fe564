-- Marked errors of one evaluation set, those of a judgement in the order in which they came. One row per error.
-- Params: $evalset.
SELECT r.judgement_id, r.span_start, r.span_end, r.category, r.severity, r.weight, r.is_source_error
FROM span AS r
JOIN judgement AS j ON j.judgement_id = r.judgement_id
JOIN vector AS v ON v.vector_id = j.vector_id
WHERE v.evalset_id = $evalset
ORDER BY r.judgement_id, r.rowid
