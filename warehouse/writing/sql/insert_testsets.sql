-- Test sets that the warehouse does not have yet.
-- Params: $ids, $names, $years, $descriptions, as long as each other.
INSERT INTO testset
SELECT
  unnest($ids::SMALLINT[]), unnest($names::VARCHAR[]), unnest($years::SMALLINT[]), unnest($descriptions::VARCHAR[])
