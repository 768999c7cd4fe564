-- The facts: scores of segments, of larger units, annotations (judgements of people, predictions of metrics) and the
-- errors marked in them.
-- Fact tables carry no keys: uniqueness and references are checked by query in each load.

CREATE TABLE internal.vector (
  vector_id INTEGER NOT NULL,
  evalset_id INTEGER NOT NULL,
  scorer_id INTEGER NOT NULL,
  system_id INTEGER NOT NULL,
  level VARCHAR NOT NULL CHECK (level IN ('sys', 'domain', 'doc', 'seg')),
  source_id INTEGER NOT NULL,
  n_values INTEGER NOT NULL,
  n_missing INTEGER NOT NULL,
  is_negated BOOLEAN NOT NULL DEFAULT false,
  is_derived BOOLEAN NOT NULL DEFAULT false
);
COMMENT ON TABLE internal.vector IS 'One scorer''s scores of one system at one level of one evaluation set. One row per combination.';
COMMENT ON COLUMN internal.vector.vector_id IS 'Identifier inside this file; scores are sorted by it.';
COMMENT ON COLUMN internal.vector.evalset_id IS 'The evaluation set.';
COMMENT ON COLUMN internal.vector.scorer_id IS 'The metric or human protocol.';
COMMENT ON COLUMN internal.vector.system_id IS 'The system.';
COMMENT ON COLUMN internal.vector.level IS 'sys, domain, doc or seg.';
COMMENT ON COLUMN internal.vector.source_id IS 'File the scores came from.';
COMMENT ON COLUMN internal.vector.n_values IS 'Number of scores.';
COMMENT ON COLUMN internal.vector.n_missing IS 'Number of rows without a score (NULL); segments that the file does not list are not counted.';
COMMENT ON COLUMN internal.vector.is_negated IS 'True where the file''s values were negated on the way in, so that higher is better.';
COMMENT ON COLUMN internal.vector.is_derived IS 'True where the scores are those of marked errors, -(5 major + 1 minor), because the file has no others.';

CREATE TABLE internal.score (
  vector_id INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  value DOUBLE CHECK (isfinite(value))
);
COMMENT ON TABLE internal.score IS 'Segment scores, sorted by vector and segment. One row per vector and segment.';
COMMENT ON COLUMN internal.score.vector_id IS 'The vector.';
COMMENT ON COLUMN internal.score.segment IS 'Segment inside the evaluation set.';
COMMENT ON COLUMN internal.score.value IS 'The score, higher is better; NULL where the segment was not scored.';

CREATE TABLE internal.aggregate_score (
  vector_id INTEGER NOT NULL,
  unit VARCHAR,
  value DOUBLE CHECK (isfinite(value))
);
COMMENT ON TABLE internal.aggregate_score IS 'Submitted scores of whole test sets, domains and documents. One row per vector and unit.';
COMMENT ON COLUMN internal.aggregate_score.vector_id IS 'The vector.';
COMMENT ON COLUMN internal.aggregate_score.unit IS 'Domain or document; NULL at system level.';
COMMENT ON COLUMN internal.aggregate_score.value IS 'The score as submitted, higher is better; NULL where missing.';

CREATE TABLE internal.judgement (
  judgement_id BIGINT NOT NULL,
  vector_id INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  rater VARCHAR,
  item VARCHAR,
  value DOUBLE CHECK (isfinite(value)),
  n INTEGER,
  time TIMESTAMP,
  status VARCHAR NOT NULL DEFAULT 'valid'
);
COMMENT ON TABLE internal.judgement IS 'Annotations, one scorer''s look at one output: a person''s judgement behind a human score, or a metric''s prediction of error spans. One row per annotation.';
COMMENT ON COLUMN internal.judgement.judgement_id IS 'Identifier inside this file.';
COMMENT ON COLUMN internal.judgement.vector_id IS 'The vector of the human score or metric.';
COMMENT ON COLUMN internal.judgement.segment IS 'Segment inside the evaluation set.';
COMMENT ON COLUMN internal.judgement.rater IS 'Annotator; NULL where the file does not say, and for a metric.';
COMMENT ON COLUMN internal.judgement.item IS 'Item of the campaign, where it differs from the segment.';
COMMENT ON COLUMN internal.judgement.value IS 'The judgement as a score, higher is better; NULL where nothing was judged, and for a metric.';
COMMENT ON COLUMN internal.judgement.n IS 'Number of judgements aggregated in this row: 1 for a single one; NULL where the file does not say.';
COMMENT ON COLUMN internal.judgement.time IS 'When it was given, in UTC; NULL where not known.';
COMMENT ON COLUMN internal.judgement.status IS 'valid, or why it is excluded from the score (quality control, tutorial, repeated, ...).';

CREATE TABLE internal.span (
  judgement_id BIGINT NOT NULL,
  category VARCHAR,
  severity VARCHAR,
  weight DOUBLE CHECK (isfinite(weight)),
  span_start INTEGER,
  span_end INTEGER,
  is_source_error BOOLEAN,
  severity_class VARCHAR
);
COMMENT ON TABLE internal.span IS 'Errors marked in an annotation, by people or by a metric; one without errors has none. One row per error.';
COMMENT ON COLUMN internal.span.judgement_id IS 'The annotation.';
COMMENT ON COLUMN internal.span.category IS 'Kind of error, such as accuracy/mistranslation; NULL where not given.';
COMMENT ON COLUMN internal.span.severity IS 'Severity as the file has it, such as major.';
COMMENT ON COLUMN internal.span.weight IS 'Penalty of the error, 0 or more; NULL where errors have no weights.';
COMMENT ON COLUMN internal.span.span_start IS 'First character of the span, from 0; NULL where not marked.';
COMMENT ON COLUMN internal.span.span_end IS 'Character after the span; NULL where not marked.';
COMMENT ON COLUMN internal.span.is_source_error IS 'True where the span lies in the source.';
COMMENT ON COLUMN internal.span.severity_class IS 'Severity spelled the same for all files: lower case, words joined by hyphens, such as major or no-error.';
