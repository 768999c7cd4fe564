-- Preferences: which of two outputs of a segment somebody found better.

CREATE TABLE internal.preference (
  vector_a INTEGER NOT NULL,
  vector_b INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  ranking INTEGER NOT NULL,
  rater VARCHAR,
  answer VARCHAR NOT NULL CHECK (answer IN ('a', 'b', 'tie')),
  is_same_output BOOLEAN NOT NULL DEFAULT false
);
COMMENT ON TABLE internal.preference IS 'Preferences between two outputs, of people or of a metric that answers so, sorted by vectors; a ranking of several outputs is all its pairs. One row per pair as judged.';
COMMENT ON COLUMN internal.preference.vector_a IS 'The vector of the first output as shown: its scorer, system and evaluation set.';
COMMENT ON COLUMN internal.preference.vector_b IS 'The vector of the second output.';
COMMENT ON COLUMN internal.preference.segment IS 'Segment inside the evaluation set.';
COMMENT ON COLUMN internal.preference.ranking IS 'Number of the ranking in its file; the pairs of one ranking share it.';
COMMENT ON COLUMN internal.preference.rater IS 'Annotator; NULL where the file does not say.';
COMMENT ON COLUMN internal.preference.answer IS 'a or b, the better output, or tie.';
COMMENT ON COLUMN internal.preference.is_same_output IS 'True where the two systems were shown as one, as their outputs are the same; the answer is tie.';
