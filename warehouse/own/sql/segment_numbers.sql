-- The segments of an evaluation set, in their order, with document and index where they are known.
-- Params: $testset, $lp. One row per segment.
SELECT n.segment, n.document, n.index_in_document
FROM segment AS n
JOIN evalset AS e ON e.evalset_id = n.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE t.name = $testset AND e.lp = $lp
ORDER BY n.segment
