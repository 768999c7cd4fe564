-- Files loaded. No params. One row per file and evaluation set.
SELECT testset, lp, origin, reader, n_rows, sha256
FROM sources
ORDER BY testset, lp, origin
