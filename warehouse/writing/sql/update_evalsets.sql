-- Official reference and human scores of evaluation sets, as declared.
-- Params: $ids, $references, $ranks, $sys, $domain, $doc, $seg, as long as each other.
UPDATE evalset
SET
  standard_reference = n.reference,
  standard_human_sys = n.human_sys,
  standard_human_domain = n.human_domain,
  standard_human_doc = n.human_doc,
  standard_human_seg = n.human_seg,
  ranks_human_references = n.ranks
FROM (
  SELECT
    unnest($ids::INTEGER[]) AS evalset_id,
    unnest($references::VARCHAR[]) AS reference,
    unnest($ranks::BOOLEAN[]) AS ranks,
    unnest($sys::VARCHAR[]) AS human_sys,
    unnest($domain::VARCHAR[]) AS human_domain,
    unnest($doc::VARCHAR[]) AS human_doc,
    unnest($seg::VARCHAR[]) AS human_seg
) AS n
WHERE n.evalset_id = evalset.evalset_id
