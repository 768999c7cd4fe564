-- Systems and references with texts.
-- Params: $evalsets, their identifiers. One row per evaluation set and name.
SELECT DISTINCT evalset_id, name
FROM segment_text
WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[])) AND name IS NOT NULL
