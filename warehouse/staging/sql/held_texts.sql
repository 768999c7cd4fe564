-- Systems and references with texts.
-- Params: $testsets, $lps, as long as each other. One row per evaluation set and name.
SELECT DISTINCT testset, lp, name
FROM texts
WHERE (testset, lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
  AND name IS NOT NULL
