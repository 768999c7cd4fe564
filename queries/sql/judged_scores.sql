-- Human scores with single judgements on file.
-- No params. One row per evaluation set and human score, by year, test set, pair, name.
SELECT t.name AS testset, h.lp, e.evalset_id, h.human
FROM humans AS h
JOIN testset AS t ON t.name = h.testset
JOIN evalset AS e ON e.testset_id = t.testset_id AND e.lp = h.lp
WHERE h.n_judgements > 0
ORDER BY t.year NULLS FIRST, t.name, h.lp, h.human;
