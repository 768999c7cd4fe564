-- The segments of an evaluation set, in their order.
-- Params: $testset, $lp. One row per segment.
SELECT n.segment
FROM segment AS n
JOIN evalset AS e ON e.evalset_id = n.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE t.name = $testset AND e.lp = $lp
ORDER BY n.segment
