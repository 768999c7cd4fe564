-- Segments of the evaluation sets whose segments are staged.
DELETE FROM segment
WHERE evalset_id IN (
  SELECT o.evalset_id FROM temp.staged_segment AS n JOIN temp.staged_source AS o ON o.file_no = n.file_no
)
