-- Scores of one scorer for one system at one level, and single judgements behind them, as numbers and digests.
-- Params: $testset, $lp (NULL: all). One row per evaluation set, scorer, system and level.
-- Equal digests: the same values at the same numbers of segments, or domains and documents. A missing score counts as
-- none. The order of rows does not matter, as digests are sums.
WITH value_digest AS (
  SELECT vector_id, count(value) AS n, sum(hash(segment, value)) FILTER (WHERE value IS NOT NULL) AS digest
  FROM score
  GROUP BY vector_id
  UNION ALL
  SELECT vector_id, count(value), sum(hash(unit, value)) FILTER (WHERE value IS NOT NULL)
  FROM aggregate_score
  GROUP BY vector_id
), error_digest AS (
  SELECT
    judgement_id,
    sum(hash(category, severity, weight, span_start, span_end, is_source_error)) AS digest
  FROM span
  GROUP BY judgement_id
), judgement_digest AS (
  SELECT
    j.vector_id,
    count(*) AS n,
    sum(hash(j.segment, j.rater, j.item, j.value, j.n, j.time, j.status, r.digest)) AS digest
  FROM judgement AS j
  LEFT JOIN error_digest AS r ON r.judgement_id = j.judgement_id
  GROUP BY j.vector_id
)
SELECT
  t.name AS testset,
  e.lp,
  sc.kind,
  sc.name AS scorer,
  y.name AS system,
  v.level,
  v.vector_id,
  coalesce(d.n, 0) AS n,
  d.digest::VARCHAR AS digest,
  coalesce(j.n, 0) AS n_judgements,
  j.digest::VARCHAR AS judgement_digest
FROM vector AS v
JOIN evalset AS e ON e.evalset_id = v.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN system AS y ON y.system_id = v.system_id
LEFT JOIN value_digest AS d ON d.vector_id = v.vector_id
LEFT JOIN judgement_digest AS j ON j.vector_id = v.vector_id
WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
ORDER BY t.name, e.lp, sc.kind, sc.name, y.name, v.level;
