-- Those vectors of temp.met_vector whose values differ, and all with judgements. One row per vector: vector_no.
WITH here AS (
  SELECT m.vector_no, s.segment::VARCHAR AS unit, s.value
  FROM temp.met_vector AS m
  JOIN temp.staged_score AS s ON s.vector_no = m.vector_no
  UNION ALL
  SELECT m.vector_no, s.unit, s.value
  FROM temp.met_vector AS m
  JOIN temp.staged_aggregate AS s ON s.vector_no = m.vector_no
),
there AS (
  SELECT m.vector_no, s.segment::VARCHAR AS unit, s.value
  FROM temp.met_vector AS m
  JOIN score AS s ON s.vector_id = m.vector_id
  UNION ALL
  SELECT m.vector_no, s.unit, s.value
  FROM temp.met_vector AS m
  JOIN aggregate_score AS s ON s.vector_id = m.vector_id
)
SELECT DISTINCT coalesce(here.vector_no, there.vector_no)
FROM here
FULL JOIN there
  ON there.vector_no = here.vector_no
  AND there.unit IS NOT DISTINCT FROM here.unit
  AND there.value IS NOT DISTINCT FROM here.value
WHERE here.vector_no IS NULL OR there.vector_no IS NULL
UNION
SELECT j.vector_no FROM temp.staged_judgement AS j
