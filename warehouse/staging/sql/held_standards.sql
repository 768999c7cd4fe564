-- What the organisers declared of evaluation sets.
-- Params: $evalsets, their identifiers. One row per evaluation set.
SELECT
  e.evalset_id, t.year, t.description, e.standard_reference, e.standard_human_sys, e.standard_human_domain,
  e.standard_human_doc, e.standard_human_seg, e.ranks_human_references
FROM evalset AS e
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE e.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
