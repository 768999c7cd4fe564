-- What the program's registry knows of metrics and languages, for questions in SQL.

CREATE TABLE internal.metric_fact (
  testset_id SMALLINT NOT NULL,
  base_name VARCHAR NOT NULL,
  family VARCHAR NOT NULL,
  version VARCHAR,
  kind VARCHAR NOT NULL,
  is_reference_free BOOLEAN,
  is_error_measure BOOLEAN NOT NULL,
  training_year SMALLINT,
  is_known BOOLEAN NOT NULL
);
COMMENT ON TABLE internal.metric_fact IS 'What the registry knows of a metric in the year of a test set. One row per test set and base name.';
COMMENT ON COLUMN internal.metric_fact.testset_id IS 'The test set.';
COMMENT ON COLUMN internal.metric_fact.base_name IS 'Metric name without the reference.';
COMMENT ON COLUMN internal.metric_fact.family IS 'Family of metrics, such as COMET.';
COMMENT ON COLUMN internal.metric_fact.version IS 'Version inside the family; NULL where not known.';
COMMENT ON COLUMN internal.metric_fact.kind IS 'string, embedding, trained, likelihood, llm, sentinel, random or unknown.';
COMMENT ON COLUMN internal.metric_fact.is_reference_free IS 'True for a reference-free metric; NULL where its name does not say.';
COMMENT ON COLUMN internal.metric_fact.is_error_measure IS 'True where the metric counts errors by nature.';
COMMENT ON COLUMN internal.metric_fact.training_year IS 'Newest WMT year whose human scores it was trained on; NULL where not public or not trained.';
COMMENT ON COLUMN internal.metric_fact.is_known IS 'False where the name is not in the registry, and a rule gave the family.';

CREATE TABLE internal.language (
  code VARCHAR PRIMARY KEY,
  name VARCHAR NOT NULL,
  script VARCHAR NOT NULL,
  in_da_training BOOLEAN NOT NULL
);
COMMENT ON TABLE internal.language IS 'Languages of the loaded evaluation sets. One row per code.';
COMMENT ON COLUMN internal.language.code IS 'Code as evaluation sets have it, such as de or sr_Cyrl_RS.';
COMMENT ON COLUMN internal.language.name IS 'English name.';
COMMENT ON COLUMN internal.language.script IS 'Script it is written in, ISO 15924.';
COMMENT ON COLUMN internal.language.in_da_training IS 'True where WMT judged the language by direct assessment in 2017 to 2020, from which most trained metrics learned.';
