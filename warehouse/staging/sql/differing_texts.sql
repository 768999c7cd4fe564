-- Staged texts that are others than those of the same segment from other files, in the warehouse or on the stage.
-- Params: $numbers (evaluation sets on the stage).
-- One row per file, other file and name: file_no, path of the other one, kind, name, the first such segment, and how many.
WITH staged AS (
  SELECT f.evalset_id, n.file_no, f.path, n.kind, n.name, n.segment, n.text
  FROM temp.staged_text AS n
  JOIN temp.staged_source AS f ON f.file_no = n.file_no
  WHERE f.evalset_no IN (SELECT unnest($numbers::INTEGER[]))
),
others AS (
  SELECT evalset_id, file_no, path, kind, name, segment, text FROM staged
  UNION ALL
  SELECT t.evalset_id, NULL, o.path, t.kind, t.name, t.segment, t.text
  FROM segment_text AS t
  JOIN source AS o ON o.source_id = t.source_id
  WHERE t.evalset_id IN (SELECT evalset_id FROM staged)
)
SELECT s.file_no, o.path, s.kind, s.name, min(s.segment), count(*)
FROM staged AS s
JOIN others AS o
  ON o.evalset_id = s.evalset_id AND o.kind = s.kind AND o.segment = s.segment AND o.name IS NOT DISTINCT FROM s.name
WHERE o.text <> s.text AND (o.file_no IS NULL OR o.file_no < s.file_no)
GROUP BY s.file_no, o.path, s.kind, s.name
ORDER BY ALL
