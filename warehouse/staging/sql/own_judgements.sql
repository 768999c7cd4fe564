-- Values of judgements behind scores above 0, which are no sums of penalties, and of those whose errors have no weights.
-- Params: $there: vector numbers of the score file.
UPDATE temp.staged_judgement
SET value = s.value
FROM (
  SELECT s.vector_no, s.segment, s.value, max(s.value) OVER () > 0 AS is_own
  FROM temp.staged_score AS s
  JOIN temp.staged_vector AS v ON v.vector_no = s.vector_no AND v.kind = 'human'
  WHERE s.vector_no IN (SELECT unnest($there::INTEGER[]))
) AS s
WHERE staged_judgement.vector_no = s.vector_no
  AND staged_judgement.segment = s.segment
  AND (s.is_own OR staged_judgement.value IS NULL)
