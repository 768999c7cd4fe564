-- Documents that have scores of their own, in the order of the test set; those without segments behind, by name.
-- Params: $evalset. One row per document: its number (from 1), domain, name, and no phenomenon.
WITH place AS (
  SELECT document, min(position) AS position, min(segment) AS segment, any_value(domain ORDER BY segment) AS domain
  FROM segment
  WHERE evalset_id = $evalset
  GROUP BY document
),
scored AS (
  SELECT DISTINCT a.unit AS document
  FROM vector AS v
  JOIN aggregate_score AS a ON a.vector_id = v.vector_id
  WHERE v.evalset_id = $evalset AND v.level = 'doc'
)
SELECT
  CAST(row_number() OVER (ORDER BY position NULLS LAST, segment NULLS LAST, document) AS INTEGER) AS number,
  domain, document, CAST(NULL AS VARCHAR) AS phenomenon
FROM scored
LEFT JOIN place USING (document)
ORDER BY number;
