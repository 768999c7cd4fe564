-- Segments of the batch's evaluation sets that nothing declares and that no score and no text is of any more.
DELETE FROM segment
WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
  AND source_id IS NULL
  AND (evalset_id, segment) NOT IN (
    SELECT (v.evalset_id, s.segment)
    FROM score AS s
    JOIN vector AS v ON v.vector_id = s.vector_id
    WHERE v.evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
    UNION
    SELECT (v.evalset_id, j.segment)
    FROM judgement AS j
    JOIN vector AS v ON v.vector_id = j.vector_id
    WHERE v.evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
    UNION
    SELECT (x.evalset_id, x.segment)
    FROM segment_text AS x
    WHERE x.evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
  )
