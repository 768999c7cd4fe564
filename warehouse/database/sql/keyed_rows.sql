-- What lookups by key find, where a scan of the table would. Params: $id. One row per table whose index has it.
SELECT 'testset' AS name FROM testset WHERE testset_id = $id
UNION ALL
SELECT 'evalset' FROM evalset WHERE evalset_id = $id
UNION ALL
SELECT 'system' FROM system WHERE system_id = $id
UNION ALL
SELECT 'scorer' FROM scorer WHERE scorer_id = $id
UNION ALL
SELECT 'source' FROM source WHERE source_id = $id
