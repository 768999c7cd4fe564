-- The lines of one system in one file. One row per file and system, in the order of their first lines.
SELECT path, system, min(rowid), max(rowid), count(*), count(*) - count(value)
FROM temp.raw_score
GROUP BY path, system
ORDER BY 1, 3
