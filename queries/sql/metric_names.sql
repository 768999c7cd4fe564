-- What is known of each metric of an evaluation set.
-- Params: $testset, $lp. One row per metric variant; family, version and kind are NULL where they are not known.
SELECT m.metric, m.base_metric, m.is_reference_free, m.year, f.family, f.version, f.kind
FROM metrics AS m
LEFT JOIN metric_facts AS f ON f.testset = m.testset AND f.base_metric = m.base_metric
WHERE m.testset = $testset AND m.lp = $lp
ORDER BY m.metric;
