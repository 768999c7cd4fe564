-- Metrics without scores of whole systems that other metrics scored (their own reference aside), or single segments, in the
-- file or not.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and metric.
WITH chosen AS (
  SELECT e.evalset_id, t.name AS testset, e.lp, e.n_segments
  FROM evalset AS e
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE ($testset IS NULL OR t.name = $testset) AND ($lp IS NULL OR e.lp = $lp)
),
scored AS (
  SELECT
    v.evalset_id,
    v.scorer_id,
    v.system_id,
    sum(coalesce(c.n_segments - v.n_values, v.n_missing)) FILTER (WHERE v.level = 'seg') AS n_missing
  FROM chosen AS c
  JOIN vector AS v ON v.evalset_id = c.evalset_id
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
  GROUP BY v.evalset_id, v.scorer_id, v.system_id
),
expected AS (
  SELECT k.evalset_id, k.scorer_id, y.system_id, y.name, y.kind
  FROM (SELECT DISTINCT evalset_id, scorer_id FROM scored) AS k
  JOIN (SELECT DISTINCT evalset_id, system_id FROM scored) AS s ON s.evalset_id = k.evalset_id
  JOIN system AS y ON y.system_id = s.system_id
  JOIN scorer AS sc ON sc.scorer_id = k.scorer_id
  WHERE NOT list_contains(string_split(coalesce(sc.reference, ''), '.'), y.name)
    AND NOT (sc.reference = 'all' AND y.kind = 'human')
)
SELECT
  c.testset,
  c.lp,
  sc.name AS metric,
  count(*) FILTER (WHERE s.system_id IS NULL) AS n_systems_missing,
  count(*) FILTER (WHERE s.system_id IS NULL AND x.kind = 'mt') AS n_mt_missing,
  count(*) AS n_systems,
  coalesce(sum(s.n_missing), 0)::BIGINT AS n_segments_missing,
  count(*) FILTER (WHERE s.n_missing > 0) AS n_systems_incomplete,
  coalesce(nullif(n_systems_missing, 0), n_segments_missing)::BIGINT AS n,
  coalesce(string_agg(x.name, ', ' ORDER BY x.name) FILTER (WHERE s.system_id IS NULL), '') AS names
FROM expected AS x
LEFT JOIN scored AS s ON s.evalset_id = x.evalset_id AND s.scorer_id = x.scorer_id AND s.system_id = x.system_id
JOIN chosen AS c ON c.evalset_id = x.evalset_id
JOIN scorer AS sc ON sc.scorer_id = x.scorer_id
GROUP BY c.testset, c.lp, sc.name
HAVING n_systems_missing > 0 OR n_segments_missing > 0
ORDER BY c.testset, c.lp, sc.name;
