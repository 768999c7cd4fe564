-- Official reference and human scores of evaluation sets, as declared.
-- Frame: evalset_id and the columns that are set.
UPDATE evalset
SET
  standard_reference = n.standard_reference,
  standard_human_sys = n.standard_human_sys,
  standard_human_domain = n.standard_human_domain,
  standard_human_doc = n.standard_human_doc,
  standard_human_seg = n.standard_human_seg,
  ranks_human_references = n.ranks_human_references
FROM inserted_frame AS n
WHERE n.evalset_id = evalset.evalset_id
