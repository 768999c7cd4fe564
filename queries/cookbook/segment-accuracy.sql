-- How often does a metric order two outputs of a segment as people do, ties included? The best metric of each
-- evaluation set by the share of pairs of outputs at tie threshold 0, pooled over segments, over all systems that the
-- official human score judged and all metrics. `rank -m acc23` takes the mean over segments and the official systems and
-- metrics alone, and may name another.
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
