-- Where everything came from, and what is known to be wrong with it.

CREATE TABLE internal.source (
  source_id INTEGER PRIMARY KEY,
  evalset_id INTEGER NOT NULL,
  origin VARCHAR NOT NULL,
  path VARCHAR NOT NULL,
  sha256 VARCHAR NOT NULL,
  n_bytes BIGINT NOT NULL,
  reader VARCHAR NOT NULL,
  n_rows BIGINT NOT NULL,
  n_missing BIGINT NOT NULL,
  loaded_at TIMESTAMP NOT NULL,
  status VARCHAR NOT NULL CHECK (status IN ('loaded', 'refused')),
  fault VARCHAR,
  n_evalsets INTEGER NOT NULL DEFAULT 1,
  bundle VARCHAR
);
COMMENT ON TABLE internal.source IS 'Files loaded or refused. One row per file and evaluation set.';
COMMENT ON COLUMN internal.source.source_id IS 'Identifier inside this file.';
COMMENT ON COLUMN internal.source.evalset_id IS 'The evaluation set that the file brought something to.';
COMMENT ON COLUMN internal.source.origin IS 'What the file is, wherever it lies: a new file of the same origin replaces the old one.';
COMMENT ON COLUMN internal.source.path IS 'Path of the file when it was loaded.';
COMMENT ON COLUMN internal.source.sha256 IS 'Checksum of the file''s content.';
COMMENT ON COLUMN internal.source.n_bytes IS 'Size of the file in bytes.';
COMMENT ON COLUMN internal.source.reader IS 'Reader and its version.';
COMMENT ON COLUMN internal.source.n_rows IS 'Rows that the file brought.';
COMMENT ON COLUMN internal.source.n_missing IS 'Rows among them without a value.';
COMMENT ON COLUMN internal.source.loaded_at IS 'When, in UTC.';
COMMENT ON COLUMN internal.source.status IS 'loaded, or refused under --skip-broken.';
COMMENT ON COLUMN internal.source.fault IS 'Why it was refused; NULL when loaded.';
COMMENT ON COLUMN internal.source.n_evalsets IS 'To how many evaluation sets the file brings something; it has a row for each that is loaded.';
COMMENT ON COLUMN internal.source.bundle IS 'The same for files that make scores together, such as annotations and the scores that they stand behind; NULL for a file that stands alone.';

CREATE TABLE internal.known_issue (
  testset VARCHAR NOT NULL,
  lp VARCHAR,
  scorer VARCHAR,
  system VARCHAR,
  issue VARCHAR NOT NULL,
  citation VARCHAR NOT NULL
);
COMMENT ON TABLE internal.known_issue IS 'Published errors in the data, shown beside results that touch them. One row per issue.';
COMMENT ON COLUMN internal.known_issue.testset IS 'Test set concerned.';
COMMENT ON COLUMN internal.known_issue.lp IS 'Language pair concerned; NULL for all.';
COMMENT ON COLUMN internal.known_issue.scorer IS 'Metric (full or base name) or human score concerned; NULL for all.';
COMMENT ON COLUMN internal.known_issue.system IS 'System concerned; NULL for all.';
COMMENT ON COLUMN internal.known_issue.issue IS 'Description of the issue.';
COMMENT ON COLUMN internal.known_issue.citation IS 'Source of this information.';
