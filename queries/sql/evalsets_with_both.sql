-- Evaluation sets that metrics can be ranked on: with metric scores and human scores, such as grades.
-- No params. One row per evaluation set, by test set and language pair.
-- is_challenge: its human score is that of challenge sets, the grade.
SELECT t.name AS testset, e.lp, bool_or(s.name = 'grade') AS is_challenge
FROM evalset AS e
JOIN testset AS t ON t.testset_id = e.testset_id
JOIN vector AS v ON v.evalset_id = e.evalset_id
JOIN scorer AS s ON s.scorer_id = v.scorer_id
GROUP BY ALL
HAVING bool_or(s.kind = 'human') AND bool_or(s.kind = 'metric')
ORDER BY ALL;
