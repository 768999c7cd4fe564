-- Give systems the names of temp.staged_rename; what is a name now is no further spelling.
DELETE FROM system_spelling
USING temp.staged_rename AS n
WHERE system_spelling.system_id = n.system_id AND system_spelling.spelling = n.new;

UPDATE system
SET name = n.new
FROM temp.staged_rename AS n
WHERE system.system_id = n.system_id;
