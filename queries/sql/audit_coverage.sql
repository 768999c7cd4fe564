-- How much of an evaluation set humans judged: (system, segment) pairs, evenness over MT systems, annotators.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and human score with segment scores.
WITH vector_of AS (
  SELECT v.evalset_id, v.scorer_id, v.vector_id, v.n_values, y.kind
  FROM vector AS v
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
  JOIN system AS y ON y.system_id = v.system_id
  JOIN evalset AS e ON e.evalset_id = v.evalset_id
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE v.level = 'seg' AND ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
),
covered AS (
  SELECT
    evalset_id,
    scorer_id,
    coalesce(sum(n_values) FILTER (WHERE kind <> 'qc'), 0)::BIGINT AS n,
    count(*) FILTER (WHERE kind = 'mt' AND n_values > 0) AS n_systems,
    min(n_values) FILTER (WHERE kind = 'mt' AND n_values > 0) AS least,
    max(n_values) FILTER (WHERE kind = 'mt' AND n_values > 0) AS most
  FROM vector_of
  GROUP BY evalset_id, scorer_id
),
-- All systems that people judged, by systems or segments: files of judgements list no unjudged segments.
expected AS (
  SELECT testset, lp, human, n_scores + n_missing AS n_scores
  FROM humans
),
work AS (
  SELECT x.evalset_id, x.scorer_id, j.rater, count(*) AS n
  FROM vector_of AS x
  JOIN judgement AS j ON j.vector_id = x.vector_id AND j.status = 'valid' AND j.rater IS NOT NULL
  GROUP BY x.evalset_id, x.scorer_id, j.rater
),
raters AS (
  SELECT evalset_id, scorer_id, count(*) AS n_raters, min(n) AS fewest, max(n) AS highest, sum(n)::BIGINT AS n_judgements
  FROM work
  GROUP BY evalset_id, scorer_id
)
SELECT
  t.name AS testset,
  e.lp,
  sc.name AS human,
  c.n,
  x.n_scores,
  c.n::DOUBLE / x.n_scores AS value,
  c.n_systems,
  c.least,
  c.most,
  coalesce(r.n_raters, 0) AS n_raters,
  coalesce(r.fewest, 0) AS fewest,
  coalesce(r.highest, 0) AS highest,
  coalesce(r.n_judgements, 0) AS n_judgements
FROM covered AS c
JOIN evalset AS e ON e.evalset_id = c.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
JOIN scorer AS sc ON sc.scorer_id = c.scorer_id
JOIN expected AS x ON x.testset = t.name AND x.lp = e.lp AND x.human = sc.name
LEFT JOIN raters AS r ON r.evalset_id = c.evalset_id AND r.scorer_id = c.scorer_id
WHERE c.n < x.n_scores OR r.n_raters IS NOT NULL
ORDER BY t.name, e.lp, sc.name;
