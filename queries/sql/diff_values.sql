-- Scores of a test set, missing ones left out.
-- Params: $testset, $lp (NULL: all).
-- One row per vector and segment, or domain or document (`unit`; NULL at system level).
WITH asked AS (
  SELECT v.evalset_id, v.vector_id
  FROM testset AS t
  JOIN evalset AS e ON e.testset_id = t.testset_id
  JOIN vector AS v ON v.evalset_id = e.evalset_id
  WHERE t.name = $testset AND ($lp IS NULL OR e.lp = $lp)
)
SELECT v.evalset_id, v.vector_id, s.segment, NULL::VARCHAR AS unit, s.value
FROM asked AS v
JOIN score AS s ON s.vector_id = v.vector_id
WHERE s.value IS NOT NULL
UNION ALL
SELECT v.evalset_id, v.vector_id, NULL, a.unit, a.value
FROM asked AS v
JOIN aggregate_score AS a ON a.vector_id = v.vector_id
WHERE a.value IS NOT NULL;
