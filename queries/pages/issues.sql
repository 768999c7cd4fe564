-- Published errors in the data. No params. One row per issue.
SELECT testset, lp, scorer, system, issue, citation
FROM known_issues
ORDER BY testset, lp, scorer
