-- How many judged (system, segment) scores each scorer has. No params. One row per scorer that has any.
-- From grid_score (see queries/engines.py).
SELECT scorer_id, COUNT(*) AS n_scored
FROM grid_score
WHERE human IS NOT NULL AND metric IS NOT NULL
GROUP BY scorer_id
ORDER BY scorer_id;
