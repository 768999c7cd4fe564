-- Files with two columns, SYSTEM and SCORE, as they stand there. One row per line, in order: DuckDB preserves the order
-- of the lines, and rowid counts it. `raw_domain_scores` reads files with a third column in the same way.
-- Params: $patterns (one for each file), $paths and $numbers (of the files, in one order).
-- DuckDB's cast takes underscores and blanks, which a score has not; of None it makes NULL. -0.0 + 0.0 is 0.0.
-- A row without unit has a byte for it. Not strict: lines may end as on Windows, some or all.
CREATE OR REPLACE TEMP TABLE raw_score AS
SELECT
  $numbers[list_position($paths, filename)]::INTEGER AS file_no,
  NULL::BOOLEAN AS unit,
  system,
  try_cast(score AS DOUBLE) + 0.0 AS value,
  score <> 'None'
    AND (NOT isfinite(coalesce(try_cast(score AS DOUBLE), 'nan')) OR contains(score, '_') OR contains(score, ' ')
      OR regexp_matches(score, '^[+-][+-]'))
    AS is_wrong
FROM read_csv(
  $patterns, delim = '\t', header = false, quote = '', escape = '', comment = '', auto_detect = false, strict_mode = false,
  columns = {'system': 'VARCHAR', 'score': 'VARCHAR'}, force_not_null = ['system', 'score'],
  filename = true, hive_partitioning = false
)
