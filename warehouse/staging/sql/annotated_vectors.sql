-- Vectors of an annotations file, each with that of the score file which has its name. One row per annotated system.
-- Params: $annotated, $scored.
SELECT a.system, a.vector_no, s.vector_no
FROM temp.staged_vector AS a
LEFT JOIN temp.staged_vector AS s ON s.file_no = $scored AND s.system = a.system
WHERE a.file_no = $annotated
ORDER BY a.system
