-- Staged vectors that the warehouse has from other files. One row per vector.
-- Params: $numbers (evaluation sets on the stage).
CREATE OR REPLACE TEMP TABLE met_vector AS
SELECT n.vector_no, v.vector_id, n.file_no, o.path, n.kind, n.scorer, n.level
FROM temp.staged_vector AS n
JOIN temp.staged_source AS f ON f.file_no = n.file_no
JOIN scorer AS sc ON sc.kind = n.kind AND sc.name = n.scorer
JOIN system AS y ON y.evalset_id = f.evalset_id AND y.name = n.system
JOIN vector AS v
  ON v.evalset_id = f.evalset_id AND v.scorer_id = sc.scorer_id AND v.system_id = y.system_id AND v.level = n.level
JOIN source AS o ON o.source_id = v.source_id
WHERE f.evalset_no IN (SELECT unnest($numbers::INTEGER[]))
