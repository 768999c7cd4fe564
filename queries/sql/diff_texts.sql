-- Texts of a test set.
-- Params: $testset, $lp (NULL: all). One row per evaluation set, kind of text with reference or system, and segment.
SELECT x.evalset_id, concat_ws(' ', x.kind, x.name) AS name, x.segment, x.text
FROM testset AS t
JOIN evalset AS e ON e.testset_id = t.testset_id
JOIN segment_text AS x ON x.evalset_id = e.evalset_id
WHERE t.name = $testset AND ($lp IS NULL OR e.lp = $lp)
ORDER BY e.lp, x.kind, x.name, x.segment;
