-- Annotations of a slice: valid judgements of the human score whose marked errors are gold, and predictions of metrics.
-- Params: $evalset, $scorers and $systems (lists of identifiers), $segments (list). One row per annotation, in a fixed
-- order.
SELECT j.judgement_id, v.scorer_id, v.system_id, j.segment
FROM vector AS v
JOIN judgement AS j ON j.vector_id = v.vector_id AND j.status = 'valid'
WHERE v.evalset_id = $evalset AND v.level = 'seg'
  AND v.scorer_id IN (SELECT unnest($scorers::INTEGER[]))
  AND v.system_id IN (SELECT unnest($systems::INTEGER[]))
  AND j.segment IN (SELECT unnest($segments::INTEGER[]))
ORDER BY j.judgement_id;
