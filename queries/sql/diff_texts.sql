-- Texts as numbers and digests.
-- Params: $testset, $lp (NULL: all). One row per evaluation set, kind of text, and reference or system.
SELECT
  t.name AS testset,
  e.lp,
  x.kind,
  coalesce(x.name, '') AS name,
  count(*) AS n,
  sum(hash(x.segment, x.text))::VARCHAR AS digest
FROM segment_text AS x
JOIN evalset AS e ON e.evalset_id = x.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
GROUP BY t.name, e.lp, x.kind, x.name
ORDER BY t.name, e.lp, x.kind, x.name;
