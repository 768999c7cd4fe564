-- Test sets that the warehouse does not have yet.
-- Params: $names, $years, as long as each other.
INSERT INTO testset (testset_id, name, year)
SELECT (SELECT coalesce(max(testset_id), 0) FROM testset) + row_number() OVER (ORDER BY n.name), n.name, n.year
FROM (SELECT unnest($names::VARCHAR[]) AS name, unnest($years::SMALLINT[]) AS year) AS n
WHERE n.name NOT IN (SELECT name FROM testset)
