-- How many segments an evaluation set has there and not on the stage, or here and not there. One row.
-- Params: $number (on the stage), $evalset.
SELECT count(*)
FROM (SELECT * FROM temp.merged_segment WHERE evalset_no = $number AND source_id IS NOT NULL) AS n
FULL JOIN (SELECT * FROM segment WHERE evalset_id = $evalset) AS o
  ON o.segment = n.segment
  AND o.document IS NOT DISTINCT FROM n.document
  AND o.domain IS NOT DISTINCT FROM n.domain
WHERE n.segment IS NULL OR o.segment IS NULL
