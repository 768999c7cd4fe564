-- Scores of some vectors, missing ones left out.
-- Params: $vectors. One row per vector and segment, or domain or document (`unit`; NULL at system level).
SELECT s.vector_id, s.segment, NULL::VARCHAR AS unit, s.value
FROM score AS s
WHERE s.vector_id IN (SELECT unnest($vectors)) AND s.value IS NOT NULL
UNION ALL
SELECT a.vector_id, NULL, a.unit, a.value
FROM aggregate_score AS a
WHERE a.vector_id IN (SELECT unnest($vectors)) AND a.value IS NOT NULL
ORDER BY vector_id, segment, unit;
