-- Files whose scores are of segments that have no number any more, or of two that have one number now. One row per
-- file: path.
-- Params: $number (on the stage), $evalset.
WITH renumbering AS (SELECT old, new FROM temp.staged_renumbering WHERE evalset_no = $number),
lost AS (SELECT old FROM renumbering WHERE new IS NULL),
used AS (
  SELECT s.vector_id FROM score AS s JOIN lost AS n ON n.old = s.segment
  UNION
  SELECT j.vector_id FROM judgement AS j JOIN lost AS n ON n.old = j.segment WHERE j.status <> 'tutorial'
  UNION
  SELECT s.vector_id
  FROM score AS s
  JOIN vector AS v ON v.vector_id = s.vector_id AND v.evalset_id = $evalset
  LEFT JOIN renumbering AS n ON n.old = s.segment
  WHERE EXISTS (FROM renumbering WHERE new IS NOT NULL)
  GROUP BY s.vector_id, coalesce(n.new, s.segment)
  HAVING count(*) > 1
)
SELECT DISTINCT o.path
FROM used AS u
JOIN vector AS v ON v.vector_id = u.vector_id AND v.evalset_id = $evalset
JOIN source AS o ON o.source_id = v.source_id
ORDER BY o.path
