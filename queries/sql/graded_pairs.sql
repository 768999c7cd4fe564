-- Pairs of hypotheses of one item with different grades, and on how many of them each metric scores the better one higher.
-- Params: $testset, $lps (empty for all). One row per metric and item, items in the same order for all; a tie is not right;
-- n_missing: pairs without both scores.
WITH graded AS (
  SELECT h.lp, h.segment, h.system, h.value AS grade, g.phenomenon, g.phenomenon_class
  FROM human_scores AS h
  JOIN testset AS t ON t.name = h.testset
  JOIN evalset AS e ON e.testset_id = t.testset_id AND e.lp = h.lp
  JOIN segment AS g ON g.evalset_id = e.evalset_id AND g.segment = h.segment
  WHERE h.testset = $testset AND h.human = 'grade' AND g.phenomenon IS NOT NULL AND h.value IS NOT NULL
    AND (len($lps::VARCHAR[]) = 0 OR list_contains($lps::VARCHAR[], h.lp))
), pairs AS (
  SELECT a.lp, a.segment, a.phenomenon, a.phenomenon_class, a.system AS better, b.system AS worse
  FROM graded AS a
  JOIN graded AS b ON b.lp = a.lp AND b.segment = a.segment AND a.grade > b.grade
), metric_scores AS (
  SELECT lp, segment, system, metric, value FROM scores WHERE testset = $testset
), metric_names AS (
  SELECT DISTINCT metric FROM metric_scores
)
SELECT
  m.metric,
  p.phenomenon,
  p.phenomenon_class AS class,
  count(*) AS n_pairs,
  count(*) FILTER (WHERE x.value > y.value) AS n_right,
  count(*) FILTER (WHERE x.value IS NULL OR y.value IS NULL) AS n_missing
FROM pairs AS p
CROSS JOIN metric_names AS m
LEFT JOIN metric_scores AS x
  ON x.metric = m.metric AND x.lp = p.lp AND x.segment = p.segment AND x.system = p.better
LEFT JOIN metric_scores AS y
  ON y.metric = m.metric AND y.lp = p.lp AND y.segment = p.segment AND y.system = p.worse
GROUP BY m.metric, p.phenomenon, p.phenomenon_class, p.lp, p.segment
ORDER BY m.metric, p.lp, p.segment
