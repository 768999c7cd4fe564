-- Evaluation sets with their human scores: what "all" stands for. The views say the same, but count all scores for it.
-- No params. One row per evaluation set and human score (NULL: none), by year, test set, language pair and name.
-- is_challenge: true in a row of each challenge set (see the view testsets).
SELECT
  t.name AS testset,
  e.lp,
  e.evalset_id,
  h.name AS human,
  coalesce(h.name IN (e.standard_human_seg, regexp_replace(e.standard_human_sys, ':[a-z]+$', '')), false) AS is_standard,
  coalesce(h.name = 'grade', false)
    OR e.evalset_id IN (SELECT o.evalset_id FROM source AS o WHERE o.reader LIKE 'challenge-set/%') AS is_challenge
FROM evalset AS e
JOIN testset AS t ON t.testset_id = e.testset_id
LEFT JOIN (
  SELECT DISTINCT v.evalset_id, sc.name
  FROM vector AS v
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
) AS h ON h.evalset_id = e.evalset_id
ORDER BY t.year NULLS FIRST, t.name, e.lp, h.name;
