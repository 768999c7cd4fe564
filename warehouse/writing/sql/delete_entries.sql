-- Entries of metrics without scores, and those whose status the organisers' facts determine again.
DELETE FROM entry
USING temp.staged_evalset AS e
WHERE entry.evalset_id = e.evalset_id AND (
  NOT EXISTS (FROM vector AS v WHERE v.evalset_id = entry.evalset_id AND v.scorer_id = entry.scorer_id)
  OR (e.is_declared AND NOT entry.is_own AND entry.status IS DISTINCT FROM 'no entry')
)
