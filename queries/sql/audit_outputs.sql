-- Scorers that gave different scores to outputs of different systems that are the same text, by more than a hundredth of
-- the standard deviation of their scores.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and scorer.
WITH chosen AS (
  SELECT e.evalset_id, t.name AS testset, e.lp
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
),
output AS (
  SELECT DISTINCT x.evalset_id, x.segment, y.system_id, hash(x.text) AS print, x.text
  FROM chosen AS c
  JOIN segment_text AS x ON x.evalset_id = c.evalset_id AND x.kind IN ('output', 'reference')
  JOIN system AS y ON y.evalset_id = x.evalset_id AND y.name = x.name
),
same AS (
  SELECT evalset_id, segment, system_id, dense_rank() OVER (PARTITION BY evalset_id, segment ORDER BY print, text) AS text_no,
    count(*) OVER (PARTITION BY evalset_id, segment, print, text) AS n_systems
  FROM output
  QUALIFY n_systems > 1
),
spread AS (
  SELECT v.evalset_id, v.scorer_id, stddev_pop(s.value) AS sd
  FROM chosen AS c
  JOIN vector AS v ON v.evalset_id = c.evalset_id AND v.level = 'seg'
  JOIN score AS s ON s.vector_id = v.vector_id
  GROUP BY v.evalset_id, v.scorer_id
),
scored AS (
  SELECT v.evalset_id, v.scorer_id, o.segment, o.text_no, max(s.value) - min(s.value) AS gap, count(s.value) AS n
  FROM same AS o
  JOIN vector AS v ON v.evalset_id = o.evalset_id AND v.system_id = o.system_id AND v.level = 'seg'
  JOIN score AS s ON s.vector_id = v.vector_id AND s.segment = o.segment
  GROUP BY v.evalset_id, v.scorer_id, o.segment, o.text_no
  HAVING n > 1
)
SELECT
  c.testset,
  c.lp,
  sc.kind,
  sc.name AS scorer,
  sc.base_name AS base_metric,
  count(*) FILTER (WHERE g.gap > 0.01 * p.sd) AS n,
  count(*) AS n_texts,
  max(g.gap) AS value,
  max(p.sd) AS sd
FROM scored AS g
JOIN spread AS p ON p.evalset_id = g.evalset_id AND p.scorer_id = g.scorer_id
JOIN chosen AS c ON c.evalset_id = g.evalset_id
JOIN scorer AS sc ON sc.scorer_id = g.scorer_id
GROUP BY c.testset, c.lp, sc.kind, sc.name, sc.base_name
HAVING n > 0
ORDER BY c.testset, c.lp, sc.kind, sc.name;
