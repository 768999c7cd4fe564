-- Metrics of an evaluation set by pa. Params: $testset, $lp. One row per metric, best first.
SELECT *
FROM pairwise_accuracy_by_metric($testset, $lp)
