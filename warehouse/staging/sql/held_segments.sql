-- Segments, and whether a file declares them.
-- Params: $evalsets, their identifiers. One row per segment.
SELECT evalset_id, source_id IS NOT NULL, segment, position, document, index_in_document, domain
FROM segment
WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
ORDER BY segment
