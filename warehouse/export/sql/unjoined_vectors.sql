-- Number of vectors without scorer, system or source. One row.
-- Params: $evalset.
SELECT count(*)
FROM vector AS v
LEFT JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
LEFT JOIN system AS y ON y.system_id = v.system_id AND y.evalset_id = v.evalset_id
LEFT JOIN source AS o ON o.source_id = v.source_id AND o.evalset_id = v.evalset_id
WHERE v.evalset_id = $evalset AND (sc.scorer_id IS NULL OR y.system_id IS NULL OR o.source_id IS NULL)
