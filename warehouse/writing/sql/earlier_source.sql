-- What the warehouse has from files of some origins. One row per source: source_id.
-- Params: $evalsets, $origins, as long as each other.
CREATE OR REPLACE TEMP TABLE earlier_source AS
SELECT source_id
FROM source
WHERE (evalset_id, origin) IN (
  SELECT (n.evalset_id, n.origin)
  FROM (SELECT unnest($evalsets::INTEGER[]) AS evalset_id, unnest($origins::VARCHAR[]) AS origin) AS n
)
