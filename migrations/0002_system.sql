-- Systems that were scored, and the spellings they have in files.

CREATE TABLE internal.system (
  system_id INTEGER PRIMARY KEY,
  evalset_id INTEGER NOT NULL,
  name VARCHAR NOT NULL,
  canonical_name VARCHAR NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('mt', 'human', 'qc')),
  is_outlier BOOLEAN NOT NULL DEFAULT false,
  UNIQUE (evalset_id, name)
);
COMMENT ON TABLE internal.system IS 'A system of one evaluation set; a human translation that is scored like a system is one too. One row per system.';
COMMENT ON COLUMN internal.system.system_id IS 'Identifier inside this file.';
COMMENT ON COLUMN internal.system.evalset_id IS 'The evaluation set.';
COMMENT ON COLUMN internal.system.name IS 'Name as the files have it.';
COMMENT ON COLUMN internal.system.canonical_name IS 'The name in lower case, without the number of a submission (.1533) where it stays unique in the evaluation set.';
COMMENT ON COLUMN internal.system.kind IS 'mt for machine translation, human for a human translation, qc for tutorials and attention checks.';
COMMENT ON COLUMN internal.system.is_outlier IS 'True where the organisers excluded the system from official rankings.';

CREATE TABLE internal.system_spelling (
  system_id INTEGER NOT NULL,
  spelling VARCHAR NOT NULL,
  rule VARCHAR NOT NULL
);
COMMENT ON TABLE internal.system_spelling IS 'Other names of a system in files. One row per system and spelling.';
COMMENT ON COLUMN internal.system_spelling.system_id IS 'The system.';
COMMENT ON COLUMN internal.system_spelling.spelling IS 'Name as a file has it.';
COMMENT ON COLUMN internal.system_spelling.rule IS 'Rule by which the spelling was joined to the system.';
