-- How many segments an evaluation set has there and not on the stage, or here and not there. One row.
-- Params: $number (on the stage), $evalset.
WITH new AS (
  SELECT
    n.segment,
    first(n.document ORDER BY n.file_no) FILTER (n.document IS NOT NULL) AS document,
    first(n.domain ORDER BY n.file_no) FILTER (n.domain IS NOT NULL) AS domain
  FROM temp.staged_segment AS n
  JOIN temp.staged_source AS o ON o.file_no = n.file_no AND o.evalset_no = $number
  WHERE n.is_declared
  GROUP BY n.segment
)
SELECT count(*)
FROM new AS n
FULL JOIN (SELECT * FROM segment WHERE evalset_id = $evalset) AS o
  ON o.segment = n.segment
  AND o.document IS NOT DISTINCT FROM n.document
  AND o.domain IS NOT DISTINCT FROM n.domain
WHERE n.segment IS NULL OR o.segment IS NULL
