-- Systems that the staged files name and the warehouse does not have yet, numbered by evaluation set and name.
INSERT INTO system
SELECT
  (SELECT coalesce(max(system_id), 0) FROM system) + row_number() OVER (ORDER BY o.evalset_id, n.name),
  o.evalset_id,
  n.name,
  n.name,
  CASE WHEN bool_or(n.kind = 'human') THEN 'human' WHEN bool_and(n.kind = 'qc') THEN 'qc' ELSE 'mt' END,
  false
FROM temp.staged_system AS n
JOIN temp.staged_source AS o ON o.file_no = n.file_no
WHERE NOT EXISTS (FROM system AS y WHERE y.evalset_id = o.evalset_id AND y.name = n.name)
GROUP BY o.evalset_id, n.name
