-- Texts of one evaluation set as digests.
-- Params: $testset, $lp. One row per kind of text, reference or system, and segment.
SELECT x.kind, coalesce(x.name, '') AS name, x.segment, hash(x.text) AS digest
FROM segment_text AS x
JOIN evalset AS e ON e.evalset_id = x.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE t.name = $testset AND e.lp = $lp
ORDER BY x.kind, x.name, x.segment;
