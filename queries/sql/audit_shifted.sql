-- Blocks of scores that fit the neighbouring segments better than their own: what all metrics together say of a segment
-- (mean of z-scores, the block itself left out) against the block, in place and moved by one or two segments.
-- More than chance gives: the difference of Fisher's z, with variance 2 / (n - 3), lies beyond a bound that noise passes in
-- fewer than 1 of 100 evaluation sets: of 4 comparisons a block, each P(Z > z) <= exp(-z * z / 2) / 2.
-- Correlations are rounded to ten decimals: their sums are added up in any order, and an answer must not depend on it.
-- Params: $testset, $lp (NULL for all). One row per evaluation set, scorer, system and best shift.
WITH chosen AS (
  SELECT e.evalset_id, t.name AS testset, e.lp
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
),
moment AS (
  SELECT v.vector_id, v.evalset_id, avg(s.value) AS mean, stddev_pop(s.value) AS sd
  FROM chosen AS c
  JOIN vector AS v ON v.evalset_id = c.evalset_id AND v.level = 'seg'
  JOIN score AS s ON s.vector_id = v.vector_id
  GROUP BY v.vector_id, v.evalset_id
  HAVING count(s.value) >= 20 AND sd > 0
),
cell AS (
  SELECT m.evalset_id, m.vector_id, s.segment, (s.value - m.mean) / m.sd AS z
  FROM moment AS m
  JOIN score AS s ON s.vector_id = m.vector_id
  WHERE s.value IS NOT NULL
),
opinion AS (
  SELECT x.evalset_id, x.segment, sum(x.z) AS total, count(*) AS n
  FROM cell AS x
  JOIN vector AS v ON v.vector_id = x.vector_id
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
  GROUP BY x.evalset_id, x.segment
),
around AS (
  SELECT evalset_id, segment, total, n,
    lag(total / n) OVER w AS before, lag(total / n, 2) OVER w AS before_two,
    lead(total / n) OVER w AS after, lead(total / n, 2) OVER w AS after_two
  FROM opinion
  WINDOW w AS (PARTITION BY evalset_id ORDER BY segment)
),
fit AS (
  SELECT
    x.evalset_id,
    x.vector_id,
    count(*) AS n,
    nullif(round(corr(x.z, (a.total - x.z) / (a.n - 1)), 10), 'nan'::DOUBLE) AS here,
    nullif(round(corr(x.z, a.before), 10), 'nan'::DOUBLE) AS before,
    nullif(round(corr(x.z, a.before_two), 10), 'nan'::DOUBLE) AS before_two,
    nullif(round(corr(x.z, a.after), 10), 'nan'::DOUBLE) AS after,
    nullif(round(corr(x.z, a.after_two), 10), 'nan'::DOUBLE) AS after_two,
    sqrt(2 * ln(4 * count(*) OVER (PARTITION BY x.evalset_id) / (2 * 0.01))) AS by_chance
  FROM cell AS x
  JOIN around AS a ON a.evalset_id = x.evalset_id AND a.segment = x.segment AND a.n > 2
  GROUP BY x.evalset_id, x.vector_id
)
SELECT
  c.testset,
  c.lp,
  sc.kind,
  sc.name AS scorer,
  sc.base_name AS base_metric,
  y.name AS system,
  f.n,
  f.here AS in_place,
  greatest(f.before, f.before_two, f.after, f.after_two) AS shifted,
  shifted - in_place AS value,
  CASE shifted WHEN f.before THEN 1 WHEN f.before_two THEN 2 WHEN f.after THEN -1 ELSE -2 END AS shift
FROM fit AS f
JOIN chosen AS c ON c.evalset_id = f.evalset_id
JOIN vector AS v ON v.vector_id = f.vector_id
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN system AS y ON y.system_id = v.system_id
WHERE shifted > 0.2 AND shifted > f.here + 0.1
  AND (atanh(least(shifted, 0.999999)) - atanh(greatest(f.here, -0.999999))) * sqrt((f.n - 3) / 2) > f.by_chance
ORDER BY c.testset, c.lp, sc.kind, sc.name, y.name;
