-- Metrics, and the scores of one system by a metric, that fall where all others together rise: the sign is wrong.
-- What the others say is the mean z-score of all other scores of the segment, or of the system; correlations are over a system's segments, and where a metric has no
-- segment scores over MT systems that are no outliers. Of WMT19 to WMT25 no system is below -0.17, and no metric -0.87.
-- More than chance gives: Fisher's z, with variance 1 / (n - 3), lies beyond a bound that noise passes in fewer than 1 of 100
-- evaluation sets: of one comparison for each correlation, each P(Z < -z) <= exp(-z * z / 2) / 2.
-- Correlations are rounded to ten decimals: their sums are added up in any order, and an answer must not depend on it.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and metric; systems: those whose scores alone fall, worst
-- first, and whether people judged them; NULL where all of the metric's do.
WITH chosen AS (
  SELECT v.vector_id, v.evalset_id, v.scorer_id, v.system_id, v.level, t.name AS testset, e.lp
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  JOIN vector AS v ON v.evalset_id = e.evalset_id AND NOT v.is_derived -- what error spans cost has a sign
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
  WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
),
value AS (
  SELECT c.evalset_id, c.scorer_id, c.system_id, s.segment AS item, s.value
  FROM chosen AS c
  JOIN score AS s ON s.vector_id = c.vector_id
  WHERE c.level = 'seg' AND s.value IS NOT NULL
  UNION ALL
  SELECT c.evalset_id, c.scorer_id, NULL, c.system_id, a.value
  FROM chosen AS c
  JOIN aggregate_score AS a ON a.vector_id = c.vector_id
  JOIN system AS y ON y.system_id = c.system_id AND y.kind = 'mt' AND NOT y.is_outlier
  WHERE c.level = 'sys' AND a.value IS NOT NULL
),
moment AS (
  SELECT evalset_id, scorer_id, system_id, avg(value) AS mean, stddev_pop(value) AS sd
  FROM value
  GROUP BY evalset_id, scorer_id, system_id
  HAVING count(*) >= CASE WHEN system_id IS NULL THEN 5 ELSE 20 END AND sd > 0
),
cell AS (
  SELECT x.evalset_id, x.scorer_id, x.system_id, x.item, (x.value - m.mean) / m.sd AS z
  FROM value AS x
  JOIN moment AS m ON m.evalset_id = x.evalset_id AND m.scorer_id = x.scorer_id
    AND m.system_id IS NOT DISTINCT FROM x.system_id
),
opinion AS (
  SELECT evalset_id, system_id IS NULL AS of_systems, item, sum(z) AS total, count(*) AS n
  FROM cell
  GROUP BY evalset_id, of_systems, item
),
fit AS (
  SELECT x.evalset_id, x.scorer_id, x.system_id, count(*) AS n,
    nullif(round(corr(x.z, (o.total - x.z) / (o.n - 1)), 10), 'nan'::DOUBLE) AS r,
    -tanh(sqrt(2 * ln(count(*) OVER (PARTITION BY x.evalset_id) / (2 * 0.01)) / (count(*) - 3))) AS by_chance
  FROM cell AS x
  JOIN opinion AS o ON o.evalset_id = x.evalset_id AND o.of_systems = (x.system_id IS NULL) AND o.item = x.item AND o.n > 2
  GROUP BY x.evalset_id, x.scorer_id, x.system_id
),
judged AS (
  SELECT DISTINCT v.evalset_id, v.system_id
  FROM vector AS v
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
  WHERE v.n_values > 0
),
metric AS (
  SELECT evalset_id, scorer_id,
    count(system_id) AS n_systems,
    coalesce(median(r) FILTER (WHERE system_id IS NOT NULL), min(r)) AS r,
    coalesce(median(by_chance) FILTER (WHERE system_id IS NOT NULL), min(by_chance)) AS by_chance
  FROM fit
  GROUP BY evalset_id, scorer_id
)
SELECT t.name AS testset, e.lp, sc.name AS metric, sc.base_name AS base_metric,
  list(struct_pack(name := y.name, r := found.r, is_judged := j.system_id IS NOT NULL) ORDER BY found.r, y.name) FILTER (WHERE y.name IS NOT NULL) AS systems,
  coalesce(nullif(count(y.name), 0), max(found.n)) AS n,
  min(found.r) AS value
FROM (
  SELECT evalset_id, scorer_id, NULL AS system_id, n_systems AS n, r
  FROM metric
  WHERE r < CASE WHEN n_systems > 0 THEN -0.1 ELSE -0.9 END AND r < by_chance
  UNION ALL
  SELECT f.evalset_id, f.scorer_id, f.system_id, f.n, f.r
  FROM fit AS f
  JOIN metric AS m ON m.evalset_id = f.evalset_id AND m.scorer_id = f.scorer_id AND m.r >= -0.1
  WHERE f.system_id IS NOT NULL AND f.r < -0.2 AND f.r < f.by_chance
) AS found
JOIN evalset AS e ON e.evalset_id = found.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
JOIN scorer AS sc ON sc.scorer_id = found.scorer_id
LEFT JOIN system AS y ON y.system_id = found.system_id
LEFT JOIN judged AS j ON j.evalset_id = found.evalset_id AND j.system_id = found.system_id
GROUP BY t.name, e.lp, sc.name, sc.base_name
ORDER BY testset, lp, metric;
