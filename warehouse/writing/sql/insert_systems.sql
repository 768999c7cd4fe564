-- Systems that the staged files name: new ones, numbered by evaluation set and name, and those that were only in tutorials.
CREATE OR REPLACE TEMP TABLE named_system AS
SELECT
  o.evalset_id, n.name,
  CASE WHEN bool_or(n.kind = 'human') THEN 'human' WHEN bool_and(n.kind = 'qc') THEN 'qc' ELSE 'mt' END AS kind
FROM temp.staged_system AS n
JOIN temp.staged_source AS o ON o.file_no = n.file_no
GROUP BY o.evalset_id, n.name;

UPDATE system
SET kind = n.kind
FROM temp.named_system AS n
WHERE system.evalset_id = n.evalset_id AND system.name = n.name AND system.kind = 'qc' AND n.kind <> 'qc';

INSERT INTO system
SELECT
  (SELECT coalesce(max(system_id), 0) FROM system) + row_number() OVER (ORDER BY n.evalset_id, n.name),
  n.evalset_id, n.name, n.name, n.kind, false
FROM temp.named_system AS n
WHERE NOT EXISTS (FROM system AS y WHERE y.evalset_id = n.evalset_id AND y.name = n.name);
DROP TABLE temp.named_system
