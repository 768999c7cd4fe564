-- How many segments the batch's evaluation sets have.
UPDATE evalset
SET n_segments = nullif(n.n, 0)
FROM (
  SELECT e.evalset_id, count(g.segment) AS n
  FROM temp.staged_evalset AS e
  LEFT JOIN segment AS g ON g.evalset_id = e.evalset_id
  GROUP BY e.evalset_id
) AS n
WHERE n.evalset_id = evalset.evalset_id AND n.n IS DISTINCT FROM coalesce(evalset.n_segments, 0)
