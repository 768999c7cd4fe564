-- How many scorers have a score for each system and segment. No params. One row per system and segment with any.
-- From grid_score (see queries/engines.py).
SELECT system_id, segment, COUNT(*) AS n_scorers
FROM grid_score
WHERE metric IS NOT NULL
GROUP BY system_id, segment
ORDER BY system_id, segment;
