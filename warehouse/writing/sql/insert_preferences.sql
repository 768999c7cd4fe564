-- The staged preferences.
INSERT INTO preference
SELECT a.vector_id, b.vector_id, n.segment, n.ranking, n.rater, n.answer, n.is_same_output
FROM temp.staged_preference AS n
JOIN temp.staged_id AS a ON a.vector_no = n.vector_a
JOIN temp.staged_id AS b ON b.vector_no = n.vector_b
ORDER BY a.vector_id, b.vector_id, n.ranking
