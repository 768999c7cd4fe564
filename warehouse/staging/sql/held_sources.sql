-- Files that brought something to evaluation sets, or were refused.
-- Params: $evalsets, their identifiers. One row per file and evaluation set.
SELECT evalset_id, status, origin, sha256, reader
FROM source
WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
