-- Year and description of test sets, as declared.
-- Params: $names, $years, $descriptions, as long as each other.
UPDATE testset
SET year = n.year, description = n.description
FROM (
  SELECT
    unnest($names::VARCHAR[]) AS name,
    unnest($years::SMALLINT[]) AS year,
    unnest($descriptions::VARCHAR[]) AS description
) AS n
WHERE n.name = testset.name
