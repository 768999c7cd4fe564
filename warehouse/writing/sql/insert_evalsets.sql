-- Evaluation sets that the warehouse does not have yet, with official reference and human scores as declared.
-- Params: $ids, $testsets, $lps, $sources, $targets, $bases, $references, $ranks, $sys, $domain, $doc, $seg, as long as
-- each other.
INSERT INTO evalset (
  evalset_id, testset_id, lp, source_language, target_language, lp_base, standard_reference, ranks_human_references,
  standard_human_sys, standard_human_domain, standard_human_doc, standard_human_seg
)
SELECT
  unnest($ids::INTEGER[]), unnest($testsets::INTEGER[]), unnest($lps::VARCHAR[]), unnest($sources::VARCHAR[]),
  unnest($targets::VARCHAR[]), unnest($bases::VARCHAR[]), unnest($references::VARCHAR[]), unnest($ranks::BOOLEAN[]),
  unnest($sys::VARCHAR[]), unnest($domain::VARCHAR[]), unnest($doc::VARCHAR[]), unnest($seg::VARCHAR[])
