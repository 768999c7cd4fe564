-- The files of the batch. One row per file and evaluation set.
CREATE OR REPLACE TEMP TABLE staged_source (
  file_no INTEGER, evalset_no INTEGER, evalset_id INTEGER, source_id INTEGER, origin VARCHAR, path VARCHAR,
  sha256 VARCHAR, n_bytes BIGINT, reader VARCHAR, n_rows BIGINT, n_missing BIGINT, status VARCHAR,
  fault VARCHAR, n_evalsets INTEGER, bundle VARCHAR
)
