-- Numbers of a batch's scorers: those that are there by name keep theirs, new ones follow on.
-- {rows}: the scorers of the batch's files. One row per scorer.
INSERT INTO batch_scorer
SELECT
  p.scorer_id,
  coalesce(any_value(o.scorer_id), p.scorer_id + (SELECT coalesce(max(scorer_id), 0) FROM scorer))
FROM {rows} AS p
LEFT JOIN scorer AS o ON o.kind = p.kind AND o.name = p.name
GROUP BY p.scorer_id
