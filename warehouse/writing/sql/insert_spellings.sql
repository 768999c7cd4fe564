-- Staged spellings that the warehouse does not have yet.
INSERT INTO system_spelling
SELECT y.system_id, n.spelling, n.rule
FROM temp.staged_spelling AS n
JOIN temp.staged_evalset AS e ON e.evalset_no = n.evalset_no
JOIN system AS y ON y.evalset_id = e.evalset_id AND y.name = n.system
WHERE NOT EXISTS (FROM system_spelling AS o WHERE o.system_id = y.system_id AND o.spelling = n.spelling)
ORDER BY y.system_id, n.spelling
