-- Scores of evaluation sets with new numbers of segments, under these.
CREATE OR REPLACE TEMP TABLE renumbered_score AS
SELECT s.vector_id, coalesce(n.new, s.segment) AS segment, s.value
FROM score AS s
JOIN vector AS v ON v.vector_id = s.vector_id
JOIN temp.staged_evalset AS e ON e.evalset_id = v.evalset_id
LEFT JOIN temp.staged_renumbering AS n ON n.evalset_no = e.evalset_no AND n.old = s.segment
WHERE e.evalset_no IN (SELECT evalset_no FROM temp.staged_renumbering WHERE new IS NOT NULL)
