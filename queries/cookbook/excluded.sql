-- Which systems and metrics are not in the official rankings, and why?
SELECT
  level,
  kind,
  regexp_replace(reason, '^(computed with|no scores for|not judged by) .*', '\1 …') AS why,
  count(*) AS n
FROM participants
WHERE NOT included
GROUP BY ALL
ORDER BY level, kind DESC, n DESC, why
