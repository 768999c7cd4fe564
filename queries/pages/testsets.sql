-- What is loaded. No params. One row per test set.
SELECT *
FROM testsets
