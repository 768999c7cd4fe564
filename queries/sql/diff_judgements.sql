-- Single judgements of some vectors, their content as digests.
-- Params: $vectors. One row per judgement. who: annotator and item; digest: value, number, time, status and errors.
WITH error_digest AS (
  SELECT
    r.judgement_id,
    sum(hash(r.category, r.severity, r.weight, r.span_start, r.span_end, r.is_source_error)) AS digest
  FROM span AS r
  JOIN judgement AS j ON j.judgement_id = r.judgement_id
  WHERE j.vector_id IN (SELECT unnest($vectors))
  GROUP BY r.judgement_id
)
SELECT
  j.vector_id,
  j.segment,
  hash(j.rater, j.item) AS who,
  hash(j.value, j.n, j.time, j.status, r.digest) AS digest
FROM judgement AS j
LEFT JOIN error_digest AS r ON r.judgement_id = j.judgement_id
WHERE j.vector_id IN (SELECT unnest($vectors))
ORDER BY j.vector_id, j.segment, who, digest;
