-- The scorers of evaluation sets, and the systems that each has scores for, at each level.
-- Params: $evalsets (list of identifiers). One row per evaluation set, scorer and level, by kind, name and level.
-- is_derived: some of the scores are those of error spans. systems: names.
SELECT
  v.evalset_id,
  sc.kind,
  sc.scorer_id,
  sc.name,
  sc.base_name,
  sc.reference,
  n.status,
  coalesce(n.is_own, false) AS is_own,
  v.level,
  bool_or(v.is_derived) AS is_derived,
  list(y.name) FILTER (WHERE v.n_values > 0) AS systems
FROM vector AS v
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN system AS y ON y.system_id = v.system_id
LEFT JOIN entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id
WHERE v.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
GROUP BY ALL
ORDER BY sc.kind, sc.name, v.level;
