-- Which systems return year after year, and do human scores rank them higher?
WITH placed AS (
  SELECT DISTINCT r.year, r.testset, r.lp, y.canonical_name, r.human_score
  FROM ranked_scores AS r
  JOIN systems AS y ON y.testset = r.testset AND y.lp = r.lp AND y.system = r.system
),
ranked AS (
  SELECT
    year, lp, canonical_name, rank() OVER of_set AS place, count(*) OVER (PARTITION BY testset, lp) AS n
  FROM placed
  WINDOW of_set AS (PARTITION BY testset, lp ORDER BY human_score DESC)
)
SELECT
  canonical_name AS system, lp, count(DISTINCT year) AS n_years,
  array_to_string(list(year || ': ' || place || ' of ' || n ORDER BY year, place), ', ') AS places
FROM ranked
GROUP BY ALL
HAVING n_years > 1
ORDER BY n_years DESC, system, lp
LIMIT 20
