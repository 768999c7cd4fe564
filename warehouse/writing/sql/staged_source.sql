-- The files of the batch. One row per file and evaluation set.
CREATE OR REPLACE TEMP TABLE staged_source (
  file_no INTEGER, evalset_no INTEGER, evalset_id INTEGER, source_id INTEGER, origin VARCHAR, path VARCHAR,
  sha256 VARCHAR, n_bytes BIGINT, reader VARCHAR, n_rows BIGINT, n_missing BIGINT, status VARCHAR,
  fault VARCHAR, n_evalsets INTEGER, bundle VARCHAR
);

-- The staged segments, one row each; what one file leaves open, another may tell. Those that no file declares have no
-- source, and those that several declare have the first.
CREATE OR REPLACE TEMP VIEW merged_segment AS
SELECT
  o.evalset_no,
  o.evalset_id,
  n.segment,
  first(n.position ORDER BY n.file_no) FILTER (n.position IS NOT NULL) AS position,
  first(n.domain ORDER BY n.file_no) FILTER (n.domain IS NOT NULL) AS domain,
  first(n.document ORDER BY n.file_no) FILTER (n.document IS NOT NULL) AS document,
  first(n.index_in_document ORDER BY n.file_no) FILTER (n.index_in_document IS NOT NULL) AS index_in_document,
  first(o.source_id ORDER BY n.file_no) FILTER (n.is_declared) AS source_id,
  first(n.phenomenon ORDER BY n.file_no) FILTER (n.phenomenon IS NOT NULL) AS phenomenon,
  first(n.phenomenon_class ORDER BY n.file_no) FILTER (n.phenomenon_class IS NOT NULL) AS phenomenon_class
FROM temp.staged_segment AS n
JOIN temp.staged_source AS o ON o.file_no = n.file_no
GROUP BY o.evalset_no, o.evalset_id, n.segment
