-- Spellings of systems for SQL, with names joined in.

CREATE VIEW spellings AS
SELECT t.name AS testset, e.lp, y.name AS system, x.spelling, x.rule
FROM system_spelling AS x
JOIN system AS y ON y.system_id = x.system_id
JOIN evalset AS e ON e.evalset_id = y.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id;
COMMENT ON VIEW spellings IS 'Further names that a system has in files, and why they were taken for its. One row per system and spelling.';
COMMENT ON COLUMN spellings.testset IS 'Test set, such as wmt23.';
COMMENT ON COLUMN spellings.lp IS 'Language pair, such as en-de.';
COMMENT ON COLUMN spellings.system IS 'Name under which the system is found everywhere else.';
COMMENT ON COLUMN spellings.spelling IS 'Name as a file has it.';
COMMENT ON COLUMN spellings.rule IS 'Rule that joined the two: declared alias, same letters and digits, number at the end dropped.';
