-- Published issues that the warehouse does not have yet.
-- Frame: testset, lp, scorer, system, issue, citation.
INSERT INTO known_issue
SELECT n.testset, n.lp, n.scorer, n.system, n.issue, n.citation
FROM inserted_frame AS n
WHERE NOT EXISTS (
  FROM known_issue AS k
  WHERE k.testset = n.testset AND k.issue = n.issue AND k.lp IS NOT DISTINCT FROM n.lp
    AND k.scorer IS NOT DISTINCT FROM n.scorer AND k.system IS NOT DISTINCT FROM n.system
)
