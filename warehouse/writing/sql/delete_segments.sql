-- Segments that are replaced: by declared ones, or in evaluation sets whose numbers changed.
-- Params: $replaced (numbers of evaluation sets).
DELETE FROM segment
WHERE evalset_id IN (
  SELECT o.evalset_id
  FROM temp.staged_segment AS n
  JOIN temp.staged_source AS o ON o.file_no = n.file_no
  WHERE n.is_declared OR o.evalset_no IN (SELECT unnest($replaced::INTEGER[]))
)
