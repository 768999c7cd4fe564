-- Files with all that they brought, by temp.unloaded_source (source_id, metric), or with one metric alone, by its full or
-- base name. temp.staged_evalset gets their evaluation sets; files with more than that metric stay.
CREATE OR REPLACE TEMP TABLE staged_evalset AS
SELECT DISTINCT evalset_id AS evalset_no, evalset_id, false AS is_declared
FROM source
WHERE source_id IN (SELECT source_id FROM temp.unloaded_source);

CREATE OR REPLACE TEMP TABLE removed_vector AS
SELECT v.vector_id
FROM temp.unloaded_source AS u
JOIN vector AS v ON v.source_id = u.source_id
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND (u.metric IS NULL OR u.metric IN (sc.name, sc.base_name));

DELETE FROM temp.unloaded_source
WHERE source_id IN (
  SELECT source_id FROM vector WHERE vector_id NOT IN (SELECT vector_id FROM temp.removed_vector)
);
