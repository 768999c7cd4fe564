-- The first evaluation set with a vector whose scores are not as many as it says, or whose level has others.
-- One row; NULL where there is none.
WITH counted AS (
  SELECT vector_id, place, true AS is_seg, count(*) AS n, count(value) AS n_values
  FROM temp.checked_score
  GROUP BY ALL
  UNION ALL
  SELECT vector_id, place, false, count(*), count(value)
  FROM temp.checked_aggregate_score
  GROUP BY ALL
)
SELECT min(coalesce(v.place, c.place))
FROM temp.checked_vector AS v
FULL JOIN counted AS c ON c.vector_id = v.vector_id AND c.place = v.place AND c.is_seg = (v.level = 'seg')
WHERE
  v.n_values IS DISTINCT FROM coalesce(c.n_values, 0)
  OR v.n_missing IS DISTINCT FROM coalesce(c.n - c.n_values, 0);
