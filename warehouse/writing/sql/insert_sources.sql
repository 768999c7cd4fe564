-- The files of the batch, with the time.
INSERT INTO source
SELECT
  n.source_id, n.evalset_id, n.origin, n.path, n.sha256, n.n_bytes, n.reader, n.n_rows, n.n_missing,
  (now() AT TIME ZONE 'UTC')::TIMESTAMP, n.status, n.fault, n.n_evalsets,
  n.bundle
FROM temp.staged_source AS n
ORDER BY n.source_id
