-- Evaluation set whose rows were changed, with the files that they came from.
-- Params: $testset, $lp. One row per file.
SELECT origin, path, sha256, n_rows FROM sources WHERE testset = $testset AND lp = $lp ORDER BY origin;
