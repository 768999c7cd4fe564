-- Files with scores or texts of segments. One row per file: path.
-- Params: $evalset.
SELECT path
FROM source
WHERE source_id IN (
  SELECT source_id FROM vector WHERE evalset_id = $evalset AND level <> 'sys'
  UNION
  SELECT source_id FROM segment_text WHERE evalset_id = $evalset
)
ORDER BY path
