-- The batch's evaluation sets: number on the stage, identifier, and whether the organisers' facts are to be written.
-- Params: $numbers, $ids, $declared, as long as each other.
CREATE OR REPLACE TEMP TABLE staged_evalset AS
SELECT
  unnest($numbers::INTEGER[]) AS evalset_no,
  unnest($ids::INTEGER[]) AS evalset_id,
  unnest($declared::BOOLEAN[]) AS is_declared
