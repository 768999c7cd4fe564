-- Domain and document of segments whose lines are known, in the order of the test set.
-- Params: $testsets, $lps, as long as each other. One row per segment.
SELECT testset, lp, domain, document
FROM segments
WHERE (testset, lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
  AND position IS NOT NULL
ORDER BY position
