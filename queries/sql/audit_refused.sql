-- Files that were excluded as broken when their evaluation set was loaded.
-- Params: $testset, $lp (NULL for all). One row per file.
SELECT testset, lp, path, fault
FROM sources
WHERE status = 'refused' AND ($testset IS NULL OR testset = $testset) AND ($lp IS NULL OR lp = $lp)
ORDER BY testset, lp, path;
