-- Segment scores of the blocks onto the stage: the n-th line of a block is segment n.
INSERT INTO temp.staged_score
SELECT b.vector_no, r.rowid - b.first_row + 1, r.value
FROM temp.raw_score AS r
JOIN temp.raw_block AS b ON b.file_no = r.file_no AND b.system = r.system
WHERE b.level = 'seg'
