-- Published issues that the warehouse does not have yet.
-- Params: $testsets, $lps, $scorers, $systems, $issues, $citations, as long as each other.
INSERT INTO known_issue
SELECT n.testset, n.lp, n.scorer, n.system, n.issue, n.citation
FROM (
  SELECT
    unnest($testsets::VARCHAR[]) AS testset,
    unnest($lps::VARCHAR[]) AS lp,
    unnest($scorers::VARCHAR[]) AS scorer,
    unnest($systems::VARCHAR[]) AS system,
    unnest($issues::VARCHAR[]) AS issue,
    unnest($citations::VARCHAR[]) AS citation
) AS n
WHERE NOT EXISTS (
  FROM known_issue AS k
  WHERE k.testset = n.testset AND k.issue = n.issue AND k.lp IS NOT DISTINCT FROM n.lp
    AND k.scorer IS NOT DISTINCT FROM n.scorer AND k.system IS NOT DISTINCT FROM n.system
)
