-- Numbers of a batch's scorers: those that are there by name keep theirs, new ones follow on.
-- {rows}: the scorers of the batch's files. One row per scorer.
INSERT INTO batch_scorer
SELECT
  scorer_id,
  coalesce(
    known_id,
    (SELECT coalesce(max(scorer_id), 0) FROM scorer)
      + row_number() OVER (PARTITION BY known_id IS NULL ORDER BY scorer_id)
  )
FROM (
  SELECT p.scorer_id, any_value(o.scorer_id) AS known_id
  FROM {rows} AS p
  LEFT JOIN scorer AS o ON o.kind = p.kind AND o.name = p.name
  GROUP BY p.scorer_id
)
