-- Preferences of evaluation sets with new numbers of segments, under these.
CREATE OR REPLACE TEMP TABLE renumbered_preference AS
SELECT p.* REPLACE (coalesce(n.new, p.segment) AS segment)
FROM preference AS p
JOIN vector AS v ON v.vector_id = p.vector_a
JOIN temp.staged_evalset AS e ON e.evalset_id = v.evalset_id
LEFT JOIN temp.staged_renumbering AS n ON n.evalset_no = e.evalset_no AND n.old = p.segment
WHERE e.evalset_no IN (SELECT evalset_no FROM temp.staged_renumbering WHERE new IS NOT NULL)
