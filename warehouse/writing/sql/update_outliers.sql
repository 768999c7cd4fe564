-- Which systems are outliers, in the evaluation sets whose facts are written.
-- Frame: evalset_id and name of the outliers.
WITH named AS (
  SELECT y.system_id, o.name IS NOT NULL AS is_outlier
  FROM system AS y
  LEFT JOIN inserted_frame AS o ON o.evalset_id = y.evalset_id AND o.name = y.name
  WHERE y.evalset_id IN (SELECT evalset_id FROM temp.staged_evalset WHERE is_declared)
)
UPDATE system
SET is_outlier = n.is_outlier
FROM named AS n
WHERE n.system_id = system.system_id AND system.is_outlier <> n.is_outlier
