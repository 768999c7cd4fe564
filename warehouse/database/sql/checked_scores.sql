-- Segment scores of evaluation sets, each with a number for what it is a score of. Params: $evalsets, and $first and $last
-- vector.
SELECT v.evalset_id, v.vector_id::UBIGINT * 4294967296 + s.segment::UBIGINT AS key, s.value
FROM score AS s
JOIN vector AS v ON v.vector_id = s.vector_id
WHERE v.evalset_id IN (SELECT unnest($evalsets::INTEGER[])) AND v.vector_id BETWEEN $first AND $last
