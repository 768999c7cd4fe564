-- Evaluation sets with what there is to compute on, and a fingerprint of everything that was loaded for them.
-- No params. One row per evaluation set, by year, test set and language pair.
-- The fingerprint changes with any score, name, standard, list or status; sources stand for the scores they brought.
WITH vectors AS (
  SELECT
    v.evalset_id,
    count(DISTINCT v.scorer_id) FILTER (WHERE sc.kind = 'human') AS n_humans,
    count(DISTINCT v.scorer_id) FILTER (WHERE sc.kind = 'metric') AS n_metrics,
    md5(string_agg(
      concat_ws('|', sc.kind, sc.name, sc.reference, sy.name, v.level, so.sha256, v.n_values, v.n_missing, v.is_negated),
      ';' ORDER BY sc.kind, sc.name, sy.name, v.level, so.sha256
    )) AS digest
  FROM vector AS v
  JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
  JOIN system AS sy ON sy.system_id = v.system_id
  JOIN source AS so ON so.source_id = v.source_id
  GROUP BY v.evalset_id
), systems AS (
  SELECT evalset_id, md5(string_agg(concat_ws('|', name, kind, is_outlier), ';' ORDER BY name)) AS digest
  FROM system
  GROUP BY evalset_id
), sources AS (
  SELECT evalset_id, md5(string_agg(concat_ws('|', origin, sha256, reader, status), ';' ORDER BY origin, sha256)) AS digest
  FROM source
  GROUP BY evalset_id
), entries AS (
  SELECT n.evalset_id, md5(string_agg(concat_ws('|', sc.name, n.status, n.is_own), ';' ORDER BY sc.name)) AS digest
  FROM entry AS n
  JOIN scorer AS sc ON sc.scorer_id = n.scorer_id
  GROUP BY n.evalset_id
)
SELECT
  t.name AS testset,
  e.lp,
  t.year,
  coalesce(x.n_humans, 0) AS n_humans,
  coalesce(x.n_metrics, 0) AS n_metrics,
  md5(concat_ws(
    '#', x.digest, y.digest, s.digest, n.digest, e.standard_reference, 'sys', e.standard_human_sys,
    'seg', e.standard_human_seg, e.ranks_human_references, e.n_segments
  )) AS fingerprint
FROM evalset AS e
JOIN testset AS t ON t.testset_id = e.testset_id
LEFT JOIN vectors AS x ON x.evalset_id = e.evalset_id
LEFT JOIN systems AS y ON y.evalset_id = e.evalset_id
LEFT JOIN sources AS s ON s.evalset_id = e.evalset_id
LEFT JOIN entries AS n ON n.evalset_id = e.evalset_id
ORDER BY t.year NULLS FIRST, t.name, e.lp
