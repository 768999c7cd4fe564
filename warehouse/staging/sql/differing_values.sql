-- A value of one of two staged vectors that the other does not have; no row if there is none.
-- Params: $first, $second (vectors).
WITH one AS (
  SELECT segment::VARCHAR AS unit, value FROM temp.staged_score WHERE vector_no = $first
  UNION ALL
  SELECT unit, value FROM temp.staged_aggregate WHERE vector_no = $first
),
other AS (
  SELECT segment::VARCHAR AS unit, value FROM temp.staged_score WHERE vector_no = $second
  UNION ALL
  SELECT unit, value FROM temp.staged_aggregate WHERE vector_no = $second
)
(SELECT * FROM one EXCEPT ALL SELECT * FROM other)
UNION ALL
(SELECT * FROM other EXCEPT ALL SELECT * FROM one)
LIMIT 1
