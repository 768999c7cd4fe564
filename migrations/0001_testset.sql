-- Test sets, evaluation sets, segments and their texts.

CREATE TABLE internal.testset (
  testset_id SMALLINT PRIMARY KEY,
  name VARCHAR NOT NULL UNIQUE,
  year SMALLINT,
  description VARCHAR
);
COMMENT ON TABLE internal.testset IS 'A test set of one campaign, such as wmt23. One row per test set.';
COMMENT ON COLUMN internal.testset.testset_id IS 'Identifier inside this file.';
COMMENT ON COLUMN internal.testset.name IS 'Name that the organisers use, such as wmt23 or wmt21.tedtalks.';
COMMENT ON COLUMN internal.testset.year IS 'Year of the shared task; NULL where it is not known.';
COMMENT ON COLUMN internal.testset.description IS 'What the test set is, in a few words.';

CREATE TABLE internal.evalset (
  evalset_id INTEGER PRIMARY KEY,
  testset_id SMALLINT NOT NULL,
  lp VARCHAR NOT NULL,
  source_language VARCHAR NOT NULL,
  target_language VARCHAR NOT NULL,
  standard_reference VARCHAR,
  standard_human_sys VARCHAR,
  standard_human_domain VARCHAR,
  standard_human_doc VARCHAR,
  standard_human_seg VARCHAR,
  ranks_human_references BOOLEAN NOT NULL DEFAULT false,
  n_segments INTEGER,
  lp_base VARCHAR NOT NULL,
  UNIQUE (testset_id, lp)
);
COMMENT ON TABLE internal.evalset IS 'A test set in one language pair, with what its organisers declared standard. One row per pair of the two.';
COMMENT ON COLUMN internal.evalset.evalset_id IS 'Identifier inside this file.';
COMMENT ON COLUMN internal.evalset.testset_id IS 'The test set.';
COMMENT ON COLUMN internal.evalset.lp IS 'Language pair, source-target, such as en-de.';
COMMENT ON COLUMN internal.evalset.source_language IS 'Language translated from.';
COMMENT ON COLUMN internal.evalset.target_language IS 'Language translated into.';
COMMENT ON COLUMN internal.evalset.standard_reference IS 'Reference that the official scores used, such as refA; NULL where not declared.';
COMMENT ON COLUMN internal.evalset.standard_human_sys IS 'Official human score at system level; NULL where not declared.';
COMMENT ON COLUMN internal.evalset.standard_human_domain IS 'Official human score at domain level; NULL where not declared.';
COMMENT ON COLUMN internal.evalset.standard_human_doc IS 'Official human score at document level; NULL where not declared.';
COMMENT ON COLUMN internal.evalset.standard_human_seg IS 'Official human score at segment level; NULL where not declared.';
COMMENT ON COLUMN internal.evalset.ranks_human_references IS 'True where the official task ranked extra human references beside the systems.';
COMMENT ON COLUMN internal.evalset.n_segments IS 'Number of segments of the test set; NULL where not known.';
COMMENT ON COLUMN internal.evalset.lp_base IS 'Language pair without script and country, in two-letter codes where they exist: en-cs for en-cs_CZ.';

CREATE TABLE internal.segment (
  evalset_id INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  position INTEGER,
  domain VARCHAR,
  document VARCHAR,
  index_in_document INTEGER,
  source_id INTEGER,
  phenomenon VARCHAR,
  phenomenon_class VARCHAR
);
COMMENT ON TABLE internal.segment IS 'Source units of an evaluation set. One row per evaluation set and segment.';
COMMENT ON COLUMN internal.segment.evalset_id IS 'The evaluation set.';
COMMENT ON COLUMN internal.segment.segment IS 'Number of the segment inside its evaluation set; equal to position where that is known.';
COMMENT ON COLUMN internal.segment.position IS 'Line in the test set, from 1; NULL where only document and index are known.';
COMMENT ON COLUMN internal.segment.domain IS 'Domain of the document, such as news.';
COMMENT ON COLUMN internal.segment.document IS 'Document the segment belongs to; unique only inside a language pair.';
COMMENT ON COLUMN internal.segment.index_in_document IS 'Index of the segment inside its document, from 1.';
COMMENT ON COLUMN internal.segment.source_id IS 'File that declared the segment.';
COMMENT ON COLUMN internal.segment.phenomenon IS 'What an item of a challenge set tests, such as antonym-replacement; NULL elsewhere.';
COMMENT ON COLUMN internal.segment.phenomenon_class IS 'Class that the phenomenon belongs to, such as mistranslation; NULL where there is none.';

CREATE TABLE internal.segment_text (
  evalset_id INTEGER NOT NULL,
  kind VARCHAR NOT NULL CHECK (kind IN ('source', 'reference', 'output')),
  name VARCHAR,
  segment INTEGER NOT NULL,
  text VARCHAR NOT NULL USING COMPRESSION zstd,
  source_id INTEGER NOT NULL
);
COMMENT ON TABLE internal.segment_text IS 'Source sentences, references and system outputs. One row per text and segment.';
COMMENT ON COLUMN internal.segment_text.evalset_id IS 'The evaluation set.';
COMMENT ON COLUMN internal.segment_text.kind IS 'source, reference or output.';
COMMENT ON COLUMN internal.segment_text.name IS 'Name of the reference or system; NULL for a source.';
COMMENT ON COLUMN internal.segment_text.segment IS 'Segment inside the evaluation set.';
COMMENT ON COLUMN internal.segment_text.text IS 'The text itself.';
COMMENT ON COLUMN internal.segment_text.source_id IS 'File the text came from.';
