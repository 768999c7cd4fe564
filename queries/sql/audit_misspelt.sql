-- Systems named nearly as another one that has ten times as many scores: one letter more, less, changed or swapped.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and system. Numbers and lone letters at the end
-- tell systems apart; human translations and names of fewer than four letters are left alone.
WITH counted AS (
  SELECT t.name AS testset, e.lp, y.evalset_id, y.name AS system, lower(y.name) AS folded, sum(v.n_values) AS n
  FROM system AS y
  JOIN evalset AS e ON e.evalset_id = y.evalset_id
  JOIN testset AS t ON t.testset_id = e.testset_id
  JOIN vector AS v ON v.system_id = y.system_id
  WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp) AND y.kind = 'mt'
  GROUP BY t.name, e.lp, y.evalset_id, y.name
)
SELECT a.testset, a.lp, a.system, min_by(b.system, b.n) AS other, a.n::BIGINT AS n, min(b.n)::BIGINT AS n_other
FROM counted AS a
JOIN counted AS b ON b.evalset_id = a.evalset_id AND b.n >= 10 * a.n AND b.system <> a.system
WHERE least(length(a.folded), length(b.folded)) >= 4
  AND damerau_levenshtein(a.folded, b.folded) <= 1
  AND regexp_replace(a.folded, '[^0-9]', '', 'g') = regexp_replace(b.folded, '[^0-9]', '', 'g')
  AND NOT (regexp_matches(a.folded, '[^a-z0-9][a-z]$') AND regexp_matches(b.folded, '[^a-z0-9][a-z]$'))
GROUP BY a.testset, a.lp, a.system, a.n
ORDER BY a.testset, a.lp, a.system;
