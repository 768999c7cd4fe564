-- Files that brought something to evaluation sets, or were refused.
-- Params: $testsets, $lps, as long as each other. One row per file and evaluation set.
SELECT t.name, e.lp, o.status, o.origin, o.sha256, o.reader
FROM source AS o
JOIN evalset AS e ON e.evalset_id = o.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (t.name, e.lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
