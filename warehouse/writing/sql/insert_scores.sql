-- The staged scores of segments.
INSERT INTO score
SELECT i.vector_id, n.segment, n.value
FROM temp.staged_score AS n
JOIN temp.staged_id AS i ON i.vector_no = n.vector_no
ORDER BY i.vector_id, n.segment
