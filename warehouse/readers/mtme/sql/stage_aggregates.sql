-- Scores of systems, documents and domains of the blocks onto the stage; documents by the place of their line.
INSERT INTO temp.staged_aggregate
SELECT b.vector_no, coalesce(r.unit::VARCHAR, d.unit), r.value
FROM temp.raw_score AS r
JOIN temp.raw_block AS b ON b.file_no = r.file_no AND b.system = r.system
LEFT JOIN temp.raw_document AS d ON b.level = 'doc' AND d.number = r.rowid - b.first_row + 1
WHERE b.level <> 'seg'
