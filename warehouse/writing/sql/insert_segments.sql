-- The segments of temp.merged_segment.
INSERT INTO segment
SELECT
  evalset_id, segment, position, domain, document, index_in_document, source_id, phenomenon, phenomenon_class
FROM temp.merged_segment
ORDER BY evalset_id, segment
