-- The staged vectors.
INSERT INTO vector
SELECT
  i.vector_id, o.evalset_id, sc.scorer_id, y.system_id, n.level, o.source_id, n.n_values, n.n_missing, n.is_negated,
  n.is_derived
FROM temp.staged_vector AS n
JOIN temp.staged_id AS i ON i.vector_no = n.vector_no
JOIN scorer AS sc ON sc.kind = n.kind AND sc.name = n.scorer
JOIN temp.staged_source AS o ON o.file_no = n.file_no
JOIN system AS y ON y.evalset_id = o.evalset_id AND y.name = n.system
ORDER BY i.vector_id
