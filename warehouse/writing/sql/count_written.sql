-- What was staged and what arrived. One row: staged vectors, staged scores, highest staged segment, vectors, scores,
-- vectors that stand there twice.
SELECT sv.n, ss.n, ss.last, v.n, s.n, r.n
FROM (SELECT count(*) AS n FROM temp.staged_vector) AS sv
CROSS JOIN (SELECT count(*) AS n, coalesce(max(segment), 1)::INTEGER AS last FROM temp.staged_score) AS ss
CROSS JOIN (SELECT count(*) AS n FROM vector SEMI JOIN temp.staged_id USING (vector_id)) AS v
CROSS JOIN (SELECT count(*) AS n FROM score SEMI JOIN temp.staged_id USING (vector_id)) AS s
CROSS JOIN (
  SELECT count(*) AS n
  FROM (
    SELECT 1
    FROM vector
    WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
    GROUP BY evalset_id, scorer_id, system_id, level
    HAVING count(*) > 1
  )
) AS r
