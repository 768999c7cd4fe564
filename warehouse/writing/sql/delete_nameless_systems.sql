-- Systems of the batch's evaluation sets that no score and no text is of any more, with their spellings.
CREATE OR REPLACE TEMP TABLE nameless_system AS
SELECT y.system_id
FROM system AS y
WHERE y.evalset_id IN (SELECT evalset_id FROM temp.staged_evalset)
  AND NOT EXISTS (FROM vector AS v WHERE v.evalset_id = y.evalset_id AND v.system_id = y.system_id)
  AND NOT EXISTS (FROM segment_text AS x WHERE x.evalset_id = y.evalset_id AND x.name = y.name);

DELETE FROM system_spelling WHERE system_id IN (SELECT system_id FROM temp.nameless_system);
DELETE FROM system WHERE system_id IN (SELECT system_id FROM temp.nameless_system);
DROP TABLE temp.nameless_system;
