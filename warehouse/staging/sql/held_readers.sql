-- Readers of the files that name systems.
-- Params: $testsets, $lps, as long as each other. One row per system and reader.
SELECT DISTINCT t.name, e.lp, y.name, o.reader
FROM vector AS v
JOIN evalset AS e ON e.evalset_id = v.evalset_id
JOIN system AS y ON y.system_id = v.system_id
JOIN source AS o ON o.source_id = v.source_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (t.name, e.lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
