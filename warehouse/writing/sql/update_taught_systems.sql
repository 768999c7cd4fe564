-- Systems of which nothing but tutorials for annotators is left.
UPDATE system
SET kind = 'qc'
WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
  AND kind <> 'qc'
  AND system_id IN (
    SELECT v.system_id
    FROM vector AS v
    JOIN judgement AS j ON j.vector_id = v.vector_id
    GROUP BY v.system_id
    HAVING bool_and(j.status = 'tutorial')
  )
  AND NOT EXISTS (FROM vector AS v WHERE v.system_id = system.system_id AND v.n_values + v.n_missing > 0)
  AND NOT EXISTS (FROM segment_text AS x WHERE x.evalset_id = system.evalset_id AND x.name = system.name)
