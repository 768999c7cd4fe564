-- Scorers with preferences: people's rankings, and metrics that answer with preferences.
-- No params. One row per evaluation set and scorer, by year, test set, language pair, kind (human first) and name.
SELECT t.name AS testset, e.lp, e.evalset_id, sc.kind, sc.scorer_id, sc.name AS scorer
FROM (
  SELECT DISTINCT v.evalset_id, v.scorer_id
  FROM preference AS p
  JOIN vector AS v ON v.vector_id = p.vector_a
) AS k
JOIN scorer AS sc ON sc.scorer_id = k.scorer_id
JOIN evalset AS e ON e.evalset_id = k.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
ORDER BY t.year NULLS FIRST, t.name, e.lp, sc.kind, sc.name;
