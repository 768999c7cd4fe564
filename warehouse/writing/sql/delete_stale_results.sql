-- Stored results of the evaluation sets of temp.staged_evalset; one result may be of several, joined by commas.
DELETE FROM result
WHERE EXISTS (
  FROM temp.staged_evalset AS n
  JOIN evalset AS e ON e.evalset_id = n.evalset_id
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE list_contains(string_split(result.testset, ','), t.name)
    AND (list_contains(string_split(result.lp, ','), e.lp) OR result.lp = 'all')
)
