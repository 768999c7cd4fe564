-- What the organisers declare for each evaluation set of a test set. One row per language pair.
-- Params: $testset.
SELECT e.lp, e.standard_reference, e.ranks_human_references, e.standard_human_sys, e.standard_human_domain,
  e.standard_human_doc, e.standard_human_seg
FROM evalset AS e
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE t.name = $testset
