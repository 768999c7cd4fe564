-- Single judgements of a test set, their content as digests.
-- Params: $testset, $lp (NULL: all). One row per judgement.
-- who: annotator and item; digest: value, number, time, status and errors.
WITH judged AS (
  SELECT j.*, v.evalset_id
  FROM testset AS t
  JOIN evalset AS e ON e.testset_id = t.testset_id
  JOIN vector AS v ON v.evalset_id = e.evalset_id
  JOIN judgement AS j ON j.vector_id = v.vector_id
  WHERE t.name = $testset AND ($lp IS NULL OR e.lp = $lp)
), error_digest AS (
  SELECT
    r.judgement_id,
    sum(hash(r.category, r.severity, r.weight, r.span_start, r.span_end, r.is_source_error)) AS digest
  FROM judged AS j
  JOIN span AS r ON r.judgement_id = j.judgement_id
  GROUP BY r.judgement_id
)
SELECT
  j.evalset_id,
  j.vector_id,
  j.segment,
  hash(j.rater, j.item) AS who,
  hash(j.value, j.n, j.time, j.status, r.digest) AS digest
FROM judged AS j
LEFT JOIN error_digest AS r ON r.judgement_id = j.judgement_id;
