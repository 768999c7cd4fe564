-- Keys of the tables that have an index, by a scan. One row per table and key: name, id.
SELECT 'testset' AS name, testset_id::INTEGER AS id FROM testset
UNION ALL
SELECT 'evalset', evalset_id FROM evalset
UNION ALL
SELECT 'system', system_id FROM system
UNION ALL
SELECT 'scorer', scorer_id FROM scorer
UNION ALL
SELECT 'source', source_id FROM source
ORDER BY ALL
