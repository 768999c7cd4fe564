-- Judgements of a human score that standardising by annotator does without, and those that it has.
-- Params: $evalset, $human (identifier). One row.
WITH valid AS (
  SELECT j.rater, j.value
  FROM judgement AS j
  JOIN vector AS v ON v.vector_id = j.vector_id AND v.evalset_id = $evalset AND v.level = 'seg' AND v.scorer_id = $human
  JOIN system AS y ON y.system_id = v.system_id AND y.kind <> 'qc'
  WHERE j.status = 'valid' AND j.value IS NOT NULL
), annotator AS (
  SELECT rater, count(*) AS n, rater IS NOT NULL AND max(value) > min(value) AS has_spread
  FROM valid
  GROUP BY rater
)
SELECT
  coalesce(sum(n) FILTER (WHERE has_spread), 0)::BIGINT AS n_standardised,
  count(*) FILTER (WHERE has_spread) AS n_annotators,
  coalesce(sum(n) FILTER (WHERE rater IS NULL), 0)::BIGINT AS n_unknown,
  coalesce(sum(n) FILTER (WHERE NOT has_spread AND rater IS NOT NULL), 0)::BIGINT AS n_without_spread,
  count(*) FILTER (WHERE NOT has_spread AND rater IS NOT NULL) AS n_annotators_without
FROM annotator;
