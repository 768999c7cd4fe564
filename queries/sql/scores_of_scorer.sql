-- Segment scores of one scorer, with a row for every segment of the evaluation set; NULL where one is missing.
-- Params: $evalset, $scorer (identifiers). One row per system and segment, in the test set's order.
SELECT y.name AS system, g.segment, s.value
FROM vector AS v
JOIN system AS y ON y.system_id = v.system_id
JOIN segment AS g ON g.evalset_id = v.evalset_id
LEFT JOIN score AS s ON s.vector_id = v.vector_id AND s.segment = g.segment
WHERE v.evalset_id = $evalset AND v.scorer_id = $scorer AND v.level = 'seg'
ORDER BY y.name, g.position NULLS LAST, g.document, g.index_in_document, g.segment;
