-- The lines of one system in one file. One row per file and system, in the order of their first lines.
SELECT file_no, system, min(rowid), max(rowid), count(*), count(*) - count(value), bool_or(is_wrong)
FROM temp.raw_score
GROUP BY file_no, system
ORDER BY 1, 3
