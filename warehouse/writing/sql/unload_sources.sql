-- Files with all that they brought, by temp.unloaded_source (source_id); temp.staged_evalset gets their evaluation sets.
CREATE OR REPLACE TEMP TABLE staged_evalset AS
SELECT DISTINCT evalset_id AS evalset_no, evalset_id, false AS is_declared
FROM source
WHERE source_id IN (SELECT source_id FROM temp.unloaded_source);

CREATE OR REPLACE TEMP TABLE removed_vector AS
SELECT vector_id FROM vector WHERE source_id IN (SELECT source_id FROM temp.unloaded_source);
