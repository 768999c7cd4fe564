-- Adds the test sets of exported evaluation sets that are not in the warehouse. rows: the evaluation sets.
INSERT INTO testset (testset_id, name, year, description)
SELECT
  (SELECT coalesce(max(testset_id), 0) FROM testset) + row_number() OVER (ORDER BY evalset_id),
  testset,
  year,
  description
FROM (SELECT DISTINCT ON (testset) testset, evalset_id, year, description FROM {rows} ORDER BY evalset_id)
WHERE testset NOT IN (SELECT name FROM testset)
