-- Files with scores or texts of segments, or that declare them, without those on the stage. One row per file: path.
-- Params: $evalset.
SELECT path
FROM source
WHERE source_id IN (
  SELECT source_id FROM vector WHERE evalset_id = $evalset AND level <> 'sys'
  UNION
  SELECT source_id FROM segment_text WHERE evalset_id = $evalset
  UNION
  SELECT source_id FROM segment WHERE evalset_id = $evalset
) AND source_id NOT IN (SELECT source_id FROM temp.staged_source)
ORDER BY path
