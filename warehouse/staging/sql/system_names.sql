-- Names and further spellings of systems.
-- Params: $evalsets, their identifiers. One row per name: evalset_id, name, system, is_outlier.
SELECT y.evalset_id, n.name, y.name, y.is_outlier
FROM system AS y
JOIN (
  SELECT system_id, name FROM system
  UNION ALL
  SELECT system_id, spelling FROM system_spelling
) AS n ON n.system_id = y.system_id
WHERE y.evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
