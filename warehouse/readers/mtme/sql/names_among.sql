-- How many of some names of systems each file has.
-- Params: $names. One row per file that has any: file_no, n.
SELECT file_no, count(DISTINCT system)
FROM temp.raw_score
WHERE list_contains($names::VARCHAR[], system)
GROUP BY file_no
ORDER BY file_no
