-- Facts of metrics in the year of a test set.
-- Params, as long as each other: $testsets, $names, $families, $versions, $kinds, $free, $errors, $years, $known.
INSERT INTO metric_fact
SELECT
  unnest($testsets::INTEGER[]), unnest($names::VARCHAR[]), unnest($families::VARCHAR[]),
  unnest($versions::VARCHAR[]), unnest($kinds::VARCHAR[]), unnest($free::BOOLEAN[]),
  unnest($errors::BOOLEAN[]), unnest($years::SMALLINT[]), unnest($known::BOOLEAN[])
