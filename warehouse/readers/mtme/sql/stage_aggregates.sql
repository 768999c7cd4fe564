-- Scores of systems, documents and domains of the blocks onto the stage; documents by the place of their line.
-- Params: $documents (names, in order).
INSERT INTO temp.staged_aggregate
SELECT
  b.vector_no,
  coalesce(r.unit::VARCHAR, CASE WHEN b.level = 'doc' THEN ($documents::VARCHAR[])[r.rowid - b.first_row + 1] END),
  r.value
FROM temp.raw_score AS r
JOIN temp.raw_block AS b ON b.file_no = r.file_no AND b.system = r.system
WHERE b.level <> 'seg'
