-- What was staged and what arrived. One row: staged vectors, staged scores, highest staged segment, vectors, scores,
-- vectors that stand there twice.
SELECT
  (SELECT count(*) FROM temp.staged_vector),
  (SELECT count(*) FROM temp.staged_score),
  (SELECT coalesce(max(segment), 1)::INTEGER FROM temp.staged_score),
  (SELECT count(*) FROM vector AS v JOIN temp.staged_id AS i ON i.vector_id = v.vector_id),
  (SELECT count(*) FROM score AS s JOIN temp.staged_id AS i ON i.vector_id = s.vector_id),
  (
    SELECT count(*)
    FROM (
      SELECT 1
      FROM vector
      WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
      GROUP BY evalset_id, scorer_id, system_id, level
      HAVING count(*) > 1
    )
  )
