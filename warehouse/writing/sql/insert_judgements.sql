-- The staged judgements.
-- Params: $first (identifier).
INSERT INTO judgement
SELECT $first + n.judgement_no, i.vector_id, n.segment, n.rater, n.item, n.value, n.n, n.time, n.status
FROM temp.staged_judgement AS n
JOIN temp.staged_id AS i ON i.vector_no = n.vector_no
ORDER BY i.vector_id, n.segment, n.judgement_no
