-- Metrics of temp.staged_evalset all of whose files are no submissions to the metrics task: one submitted file is enough,
-- in whatever order they are loaded.
-- Params: $readers, whose files are no submissions.
UPDATE entry SET status = 'no entry'
FROM (
  SELECT v.evalset_id, v.scorer_id
  FROM temp.staged_evalset AS e
  JOIN vector AS v ON v.evalset_id = e.evalset_id
  JOIN source AS o ON o.source_id = v.source_id
  GROUP BY v.evalset_id, v.scorer_id
  HAVING bool_and(list_contains($readers::VARCHAR[], split_part(o.reader, '/', 1)))
) AS n
WHERE entry.evalset_id = n.evalset_id AND entry.scorer_id = n.scorer_id AND entry.status IS DISTINCT FROM 'no entry'
