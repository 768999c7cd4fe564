-- What every human score has of some systems of an evaluation set, by segments.
-- Params: $evalset, $systems (names). One row per human score, system and segment that it judged, in a fixed order.
SELECT sc.name AS human, y.name AS system, s.segment, s.value
FROM vector AS v
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
JOIN system AS y ON y.system_id = v.system_id AND y.name IN (SELECT unnest($systems::VARCHAR[]))
JOIN score AS s ON s.vector_id = v.vector_id AND s.value IS NOT NULL
WHERE v.evalset_id = $evalset AND v.level = 'seg'
ORDER BY sc.name, y.name, s.segment;
