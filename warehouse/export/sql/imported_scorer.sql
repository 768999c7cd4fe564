-- Numbers of a partition's scorers in the warehouse: those that it knows by name keep theirs, new ones follow on.
-- Params: $file (the partition's Parquet file). One row per scorer of the file.
CREATE OR REPLACE TEMP TABLE imported_scorer AS
SELECT
  p.scorer_id AS old_id,
  coalesce(
    o.scorer_id,
    (SELECT coalesce(max(scorer_id), 0) FROM scorer)
      + row_number() OVER (PARTITION BY o.scorer_id IS NULL ORDER BY p.scorer_id)
  )::INTEGER AS new_id,
  o.scorer_id IS NULL AS is_new
FROM read_parquet($file, hive_partitioning = false) AS p
LEFT JOIN scorer AS o ON o.kind = p.kind AND o.name = p.name
