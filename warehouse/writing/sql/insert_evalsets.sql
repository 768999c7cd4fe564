-- Evaluation sets that the warehouse does not have yet.
-- Params: $ids, $testsets, $lps, $sources, $targets, $bases, as long as each other.
INSERT INTO evalset (evalset_id, testset_id, lp, source_language, target_language, lp_base)
SELECT
  unnest($ids::INTEGER[]), unnest($testsets::INTEGER[]), unnest($lps::VARCHAR[]), unnest($sources::VARCHAR[]),
  unnest($targets::VARCHAR[]), unnest($bases::VARCHAR[])
