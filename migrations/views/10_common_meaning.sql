-- Meaning of columns of public views that have no COMMENT of their own.

CREATE OR REPLACE MACRO internal.common_meaning(name) AS CASE name
  WHEN 'testset' THEN 'Test set, such as wmt23.'
  WHEN 'lp' THEN 'Language pair, such as en-de.'
  WHEN 'year' THEN 'Year of the shared task; NULL if unknown.'
  WHEN 'segment' THEN 'Segment number within the evaluation set.'
  WHEN 'system' THEN 'System scored.'
  WHEN 'rater' THEN 'Annotator; NULL if unknown or for a metric.'
  WHEN 'scorer' THEN 'Full name of the metric variant, or human score.'
  WHEN 'metric' THEN 'Full name of the metric variant.'
  WHEN 'base_metric' THEN 'Name without the reference.'
  WHEN 'family' THEN 'Family of metrics, such as COMET.'
  WHEN 'kind' THEN 'Kind of metric: string, embedding, trained, likelihood, llm, sentinel, random or unknown.'
  WHEN 'signature' THEN 'Measure, parameters, slice, counts, seed, conventions.'
  WHEN 'stored_at' THEN 'When the result was stored, in UTC.'
END;
COMMENT ON MACRO internal.common_meaning IS 'Meaning of columns of this name in views that give them no comment of their own.';
