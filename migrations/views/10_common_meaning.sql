-- What a column of a public view means that has no COMMENT of its own.

CREATE OR REPLACE MACRO internal.common_meaning(name) AS CASE name
  WHEN 'testset' THEN 'Test set, such as wmt23.'
  WHEN 'lp' THEN 'Language pair, such as en-de.'
  WHEN 'year' THEN 'Year of the shared task; NULL where not known.'
  WHEN 'segment' THEN 'Segment number inside the evaluation set.'
  WHEN 'system' THEN 'System scored.'
  WHEN 'rater' THEN 'Annotator; NULL where not known, and for a metric.'
  WHEN 'scorer' THEN 'Full name of the metric variant, or human score.'
  WHEN 'metric' THEN 'Full name of the metric variant.'
  WHEN 'base_metric' THEN 'Name without the reference.'
  WHEN 'family' THEN 'Family of metrics, such as COMET.'
  WHEN 'kind' THEN 'Kind of metric: string, embedding, trained, likelihood, llm, sentinel, random or unknown.'
  WHEN 'signature' THEN 'Measure, parameters, slice, counts, seed, conventions.'
  WHEN 'stored_at' THEN 'When the result was stored, in UTC.'
END;
COMMENT ON MACRO internal.common_meaning IS 'What columns of this name mean in views that do not say it themselves.';
