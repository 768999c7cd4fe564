-- Segments of a test set with all that says which one each is.
-- Params: $testset, $lp (NULL: all). One row per evaluation set and segment.
SELECT e.lp, g.evalset_id, g.segment, g.position, g.document, g.index_in_document, g.domain
FROM testset AS t
JOIN evalset AS e ON e.testset_id = t.testset_id
JOIN segment AS g ON g.evalset_id = e.evalset_id
WHERE t.name = $testset AND ($lp IS NULL OR e.lp = $lp)
ORDER BY e.lp, g.segment;
