-- Concordant, discordant and tied pairs of each scorer by segment, by system, or all together, at one tie threshold.
-- Params: $by (none, item, system), $epsilon. One row per scorer and group. Where the human or the metric score is
-- missing there is no pair. From grid_score (see queries/engines.py); plain SQL that DuckDB and Spark run alike.
WITH cell AS (
  SELECT
    scorer_id,
    CASE WHEN $by = 'item' THEN segment WHEN $by = 'system' THEN system_id ELSE 0 END AS unit,
    system_id,
    segment,
    human AS h,
    metric AS m
  FROM grid_score
  WHERE human IS NOT NULL AND metric IS NOT NULL
)
SELECT
  a.scorer_id,
  a.unit,
  SUM(CASE WHEN a.h <> b.h AND ABS(a.m - b.m) > $epsilon AND (a.h > b.h) = (a.m > b.m) THEN 1 ELSE 0 END) AS n_concordant,
  SUM(CASE WHEN a.h <> b.h AND ABS(a.m - b.m) > $epsilon AND (a.h > b.h) <> (a.m > b.m) THEN 1 ELSE 0 END) AS n_discordant,
  SUM(CASE WHEN a.h = b.h AND ABS(a.m - b.m) > $epsilon THEN 1 ELSE 0 END) AS n_tied_human,
  SUM(CASE WHEN a.h <> b.h AND ABS(a.m - b.m) <= $epsilon THEN 1 ELSE 0 END) AS n_tied_metric,
  SUM(CASE WHEN a.h = b.h AND ABS(a.m - b.m) <= $epsilon THEN 1 ELSE 0 END) AS n_tied_both
FROM cell AS a
JOIN cell AS b
  ON b.scorer_id = a.scorer_id
  AND b.unit = a.unit
  AND (b.system_id > a.system_id OR (b.system_id = a.system_id AND b.segment > a.segment))
GROUP BY a.scorer_id, a.unit
ORDER BY a.scorer_id, a.unit;
