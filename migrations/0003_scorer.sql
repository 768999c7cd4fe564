-- Scorers: automatic metrics and human protocols, and their entries in the shared tasks.

CREATE TABLE internal.scorer (
  scorer_id INTEGER PRIMARY KEY,
  kind VARCHAR NOT NULL CHECK (kind IN ('metric', 'human')),
  name VARCHAR NOT NULL,
  base_name VARCHAR NOT NULL,
  reference VARCHAR,
  is_reference_free BOOLEAN NOT NULL DEFAULT false,
  family VARCHAR,
  version VARCHAR,
  is_error_measure BOOLEAN NOT NULL DEFAULT false,
  UNIQUE (kind, name)
);
COMMENT ON TABLE internal.scorer IS 'Whoever gives scores: a metric variant or a human protocol. One row per kind and name.';
COMMENT ON COLUMN internal.scorer.scorer_id IS 'Identifier inside this file.';
COMMENT ON COLUMN internal.scorer.kind IS 'metric or human.';
COMMENT ON COLUMN internal.scorer.name IS 'Full name, with the reference for a metric, such as BLEU-refA.';
COMMENT ON COLUMN internal.scorer.base_name IS 'Name without the reference, such as BLEU.';
COMMENT ON COLUMN internal.scorer.reference IS 'Reference (or several, joined by dots) that the metric compared with; NULL for none.';
COMMENT ON COLUMN internal.scorer.is_reference_free IS 'True for a reference-free metric.';
COMMENT ON COLUMN internal.scorer.family IS 'Family of metrics, such as COMET; NULL where not known.';
COMMENT ON COLUMN internal.scorer.version IS 'Version inside the family; NULL where not known.';
COMMENT ON COLUMN internal.scorer.is_error_measure IS 'True where the scorer counts errors by nature; stored values are oriented all the same: higher is better.';

CREATE TABLE internal.entry (
  evalset_id INTEGER NOT NULL,
  scorer_id INTEGER NOT NULL,
  status VARCHAR CHECK (status IN ('primary', 'baseline', 'contrastive', 'no entry')),
  is_own BOOLEAN NOT NULL DEFAULT false
);
COMMENT ON TABLE internal.entry IS 'How a metric took part in the shared task of an evaluation set. One row per evaluation set and metric.';
COMMENT ON COLUMN internal.entry.evalset_id IS 'The evaluation set.';
COMMENT ON COLUMN internal.entry.scorer_id IS 'The metric.';
COMMENT ON COLUMN internal.entry.status IS 'primary, baseline, contrastive, or no entry (not submitted to the metrics task); NULL where the year kept no such list.';
COMMENT ON COLUMN internal.entry.is_own IS 'True for a metric that a user added.';
