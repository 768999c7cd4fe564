-- What the organisers declared of evaluation sets.
-- Params: $testsets, $lps, as long as each other. One row per evaluation set.
SELECT
  t.name, e.lp, t.year, t.description, e.standard_reference, e.standard_human_sys, e.standard_human_domain,
  e.standard_human_doc, e.standard_human_seg, e.ranks_human_references
FROM evalset AS e
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (t.name, e.lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
