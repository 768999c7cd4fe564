-- Files with three columns, DOMAIN, SYSTEM and SCORE, as they stand there; otherwise as `raw_scores`, which says more.
-- Params: $patterns (one for each file), $paths and $numbers (of the files, in one order).
CREATE OR REPLACE TEMP TABLE raw_score AS
SELECT
  $numbers[list_position($paths, filename)]::INTEGER AS file_no,
  unit,
  system,
  try_cast(score AS DOUBLE) + 0.0 AS value,
  score <> 'None'
    AND (NOT isfinite(coalesce(try_cast(score AS DOUBLE), 'nan')) OR contains(score, '_') OR contains(score, ' ')
      OR regexp_matches(score, '^[+-][+-]'))
    AS is_wrong
FROM read_csv(
  $patterns, delim = '\t', header = false, quote = '', escape = '', comment = '', auto_detect = false, strict_mode = false,
  columns = {'unit': 'VARCHAR', 'system': 'VARCHAR', 'score': 'VARCHAR'}, force_not_null = ['unit', 'system', 'score'],
  filename = true, hive_partitioning = false
)
