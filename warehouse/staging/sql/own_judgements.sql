-- Values of judgements behind scores above 0, which are no sums of penalties, and of those whose errors have no weights.
-- Params: $there: vector numbers of the score file.
UPDATE temp.staged_judgement
SET value = s.value
FROM (
  SELECT vector_no, segment, value, max(value) OVER () > 0 AS is_own
  FROM temp.staged_score
  WHERE vector_no IN (SELECT unnest($there::INTEGER[]))
) AS s
WHERE staged_judgement.vector_no = s.vector_no
  AND staged_judgement.segment = s.segment
  AND (s.is_own OR staged_judgement.value IS NULL)
