-- Segments of an evaluation set that files of other origins have scores, judgements or texts of.
-- Params: $testset, $lp, $origins. One row per segment.
WITH others AS (
  SELECT o.source_id
  FROM source AS o
  JOIN evalset AS e ON e.evalset_id = o.evalset_id
  JOIN testset AS t ON t.testset_id = e.testset_id
  WHERE t.name = $testset AND e.lp = $lp AND NOT list_contains($origins::VARCHAR[], o.origin)
),
vectors AS (
  SELECT vector_id
  FROM vector
  WHERE source_id IN (SELECT source_id FROM others)
)
SELECT segment FROM score WHERE vector_id IN (SELECT vector_id FROM vectors)
UNION
SELECT segment FROM judgement WHERE vector_id IN (SELECT vector_id FROM vectors)
UNION
SELECT segment FROM segment_text WHERE source_id IN (SELECT source_id FROM others)
