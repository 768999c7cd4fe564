-- How often does a metric order two outputs of a segment as people do, ties included? The best metric of each
-- evaluation set by acc_eq, here at tie threshold 0 (acc_eq itself calibrates the threshold).
WITH summed AS (
  SELECT
    p.testset,
    p.lp,
    p.human,
    p.metric,
    sum(p.n_concordant) AS c,
    sum(p.n_discordant) AS d,
    sum(p.n_tied_human) AS th,
    sum(p.n_tied_metric) AS tm,
    sum(p.n_tied_both) AS thm
  FROM pair_counts AS p
  JOIN evalsets AS e ON e.testset = p.testset AND e.lp = p.lp AND e.standard_human_seg = p.human
  GROUP BY ALL
)
SELECT testset, lp, human, metric, acc23(c, d, th, tm, thm) AS accuracy, tau_b(c, d, th, tm, thm) AS tau_b
FROM summed
QUALIFY row_number() OVER (PARTITION BY testset, lp ORDER BY accuracy DESC, metric) = 1
ORDER BY testset, lp, accuracy DESC, metric
