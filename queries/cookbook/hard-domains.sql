-- Which domain do systems translate worst in each evaluation set, and which best, by the official human score?
WITH mean AS (
  SELECT h.testset, h.lp, h.human, h.domain, avg(h.value) AS mean
  FROM human_scores AS h
  JOIN evalsets AS e ON e.testset = h.testset AND e.lp = h.lp AND e.standard_human_seg = h.human
  JOIN systems AS y ON y.testset = h.testset AND y.lp = h.lp AND y.system = h.system AND y.kind = 'mt'
  WHERE h.domain IS NOT NULL AND h.value IS NOT NULL
  GROUP BY ALL
)
SELECT
  testset,
  lp,
  human,
  arg_min(domain, mean) AS worst,
  min(mean) AS mean_of_worst,
  arg_max(domain, mean) AS best,
  max(mean) AS mean_of_best
FROM mean
GROUP BY ALL
ORDER BY testset, lp, human
