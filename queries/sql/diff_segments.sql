-- Segments with all that says which one each is.
-- Params: $testset, $lp (NULL: all). One row per evaluation set and segment.
SELECT t.name AS testset, e.lp, g.segment, g.position, g.document, g.index_in_document, g.domain
FROM segment AS g
JOIN evalset AS e ON e.evalset_id = g.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
ORDER BY t.name, e.lp, g.segment;
