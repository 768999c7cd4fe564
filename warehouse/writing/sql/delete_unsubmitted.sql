-- Entries of metrics that no file submitted so far: one of the batch may.
DELETE FROM entry
WHERE evalset_id IN (SELECT evalset_id FROM temp.staged_evalset) AND status = 'no entry' AND NOT is_own
