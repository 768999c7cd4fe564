-- Evaluation sets with test set and year. One row per evaluation set: testset_id, testset, year, lp.
-- Params: $evalsets.
SELECT t.testset_id, t.name, t.year, e.lp
FROM evalset AS e
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE e.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
ORDER BY e.evalset_id
