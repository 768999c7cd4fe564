-- Readers of the files that name systems.
-- Params: $evalsets, their identifiers. One row per system and reader.
SELECT DISTINCT v.evalset_id, y.name, o.reader
FROM vector AS v
JOIN system AS y ON y.system_id = v.system_id
JOIN source AS o ON o.source_id = v.source_id
WHERE v.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
