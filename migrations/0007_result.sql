-- Results that were computed once and kept.

CREATE TABLE internal.result (
  key VARCHAR PRIMARY KEY,
  kind VARCHAR NOT NULL,
  testset VARCHAR NOT NULL,
  lp VARCHAR NOT NULL,
  signature VARCHAR NOT NULL,
  payload VARCHAR NOT NULL,
  program_version VARCHAR NOT NULL,
  seconds DOUBLE NOT NULL,
  stored_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE internal.result IS 'Stored results of long computations. One row per result.';
COMMENT ON COLUMN internal.result.key IS 'Checksum of everything that went in: scores, measure, test, random seed, program version.';
COMMENT ON COLUMN internal.result.kind IS 'What was computed, such as compare.';
COMMENT ON COLUMN internal.result.testset IS 'Test set (several are joined by commas).';
COMMENT ON COLUMN internal.result.lp IS 'Language pair (several are joined by commas).';
COMMENT ON COLUMN internal.result.signature IS 'The result''s signature: measure, parameters, slice, counts, seed, conventions.';
COMMENT ON COLUMN internal.result.payload IS 'The result itself, as JSON.';
COMMENT ON COLUMN internal.result.program_version IS 'Version of scorehouse that computed it.';
COMMENT ON COLUMN internal.result.seconds IS 'How long the computation took.';
COMMENT ON COLUMN internal.result.stored_at IS 'When it was stored, in UTC.';
