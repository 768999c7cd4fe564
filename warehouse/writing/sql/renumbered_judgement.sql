-- Judgements of evaluation sets with new numbers of segments, under these; tutorials are of no segments.
CREATE OR REPLACE TEMP TABLE renumbered_judgement AS
SELECT j.* REPLACE (coalesce(n.new, j.segment) AS segment)
FROM judgement AS j
JOIN vector AS v ON v.vector_id = j.vector_id
JOIN temp.staged_evalset AS e ON e.evalset_id = v.evalset_id
LEFT JOIN temp.staged_renumbering AS n
  ON n.evalset_no = e.evalset_no AND n.old = j.segment AND j.status <> 'tutorial'
WHERE e.evalset_no IN (SELECT evalset_no FROM temp.staged_renumbering WHERE new IS NOT NULL)
