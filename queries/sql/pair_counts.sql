-- Pair counts of each metric of a slice, by segment, by system, or all together, at one tie threshold.
-- Params: $evalset, $human (vectors' scorer), $metrics and $systems (lists of identifiers), $segments (list), $by (none, item, system), $epsilon.
-- One row per metric and group. Where the human or the metric score is missing there is no pair.
WITH judged AS (
  SELECT v.system_id, s.segment, s.value
  FROM vector AS v
  JOIN score AS s ON s.vector_id = v.vector_id
  WHERE v.evalset_id = $evalset AND v.scorer_id = $human AND v.level = 'seg' AND s.value IS NOT NULL
    AND v.system_id IN (SELECT unnest($systems::INTEGER[]))
    AND s.segment IN (SELECT unnest($segments::INTEGER[]))
),
cell AS (
  SELECT
    v.scorer_id,
    CASE $by WHEN 'item' THEN s.segment WHEN 'system' THEN v.system_id ELSE 0 END AS unit,
    v.system_id,
    s.segment,
    j.value AS h,
    s.value AS m
  FROM judged AS j
  JOIN vector AS v ON v.evalset_id = $evalset AND v.system_id = j.system_id AND v.level = 'seg'
  JOIN score AS s ON s.vector_id = v.vector_id AND s.segment = j.segment
  WHERE v.scorer_id IN (SELECT unnest($metrics::INTEGER[])) AND s.value IS NOT NULL
),
counted AS (
  SELECT
    a.scorer_id,
    a.unit,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) > $epsilon AND (a.h > b.h) = (a.m > b.m)) AS n_concordant,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) > $epsilon AND (a.h > b.h) <> (a.m > b.m)) AS n_discordant,
    count(*) FILTER (WHERE a.h = b.h AND abs(a.m - b.m) > $epsilon) AS n_tied_human,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) <= $epsilon) AS n_tied_metric,
    count(*) FILTER (WHERE a.h = b.h AND abs(a.m - b.m) <= $epsilon) AS n_tied_both
  FROM cell AS a
  JOIN cell AS b
    ON b.scorer_id = a.scorer_id
    AND b.unit = a.unit
    AND (b.system_id > a.system_id OR (b.system_id = a.system_id AND b.segment > a.segment))
  GROUP BY a.scorer_id, a.unit
)
SELECT
  sc.name AS metric,
  CASE $by WHEN 'item' THEN c.unit::VARCHAR WHEN 'system' THEN y.name ELSE 'all' END AS unit,
  c.n_concordant,
  c.n_discordant,
  c.n_tied_human,
  c.n_tied_metric,
  c.n_tied_both
FROM counted AS c
JOIN scorer AS sc ON sc.scorer_id = c.scorer_id
LEFT JOIN system AS y ON $by = 'system' AND y.system_id = c.unit
ORDER BY sc.name, c.unit;
