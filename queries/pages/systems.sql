-- All systems. No params. One row per canonical name and kind.
SELECT canonical_name, kind, count(DISTINCT (testset, lp)) AS n_evalsets
FROM systems
GROUP BY ALL
ORDER BY n_evalsets DESC, canonical_name
