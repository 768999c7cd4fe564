-- The staged scores of documents, domains and systems.
INSERT INTO aggregate_score
SELECT i.vector_id, n.unit, n.value
FROM temp.staged_aggregate AS n
JOIN temp.staged_id AS i ON i.vector_no = n.vector_no
ORDER BY i.vector_id, n.unit
