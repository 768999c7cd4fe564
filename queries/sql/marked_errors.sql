-- Errors behind one human score of an evaluation set, added up by judgement, under their own and under other weights.
-- Params: $evalset, $human. One row per valid judgement, in a fixed order; penalties are positive, 0 without errors.
-- n_weighted: errors that have a weight above 0.
WITH errors AS (
  SELECT
    judgement_id,
    count(*) FILTER (WHERE weight > 0) AS n_weighted,
    count(*) FILTER (WHERE weight IS NULL) AS n_without_weight,
    sum(weight::DECIMAL(18, 6)) AS as_marked,
    sum(weight::DECIMAL(18, 6)) FILTER (WHERE severity_class <> 'minor') AS without_minor,
    sum(weight::DECIMAL(18, 6)) FILTER (WHERE severity_class = 'minor') AS only_minor
  FROM span
  GROUP BY judgement_id
)
SELECT
  sy.name AS system,
  j.segment,
  coalesce(x.n_weighted, 0) AS n_weighted,
  coalesce(x.n_without_weight, 0) AS n_without_weight,
  coalesce(x.as_marked, 0)::DOUBLE AS as_marked,
  coalesce(x.without_minor, 0)::DOUBLE AS without_minor,
  coalesce(x.only_minor, 0)::DOUBLE AS only_minor
FROM judgement AS j
JOIN vector AS v ON v.vector_id = j.vector_id AND v.evalset_id = $evalset AND v.level = 'seg'
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human' AND sc.name = $human
JOIN system AS sy ON sy.system_id = v.system_id
LEFT JOIN errors AS x ON x.judgement_id = j.judgement_id
WHERE j.status = 'valid' AND j.value IS NOT NULL
ORDER BY sy.name, j.segment, j.judgement_id;
