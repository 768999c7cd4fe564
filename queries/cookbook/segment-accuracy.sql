-- How often does a metric order two outputs of a segment as human scores do, ties included? The best metric of each
-- evaluation set by the share of pairs of outputs at tie threshold 0, pooled over segments, over the systems, metrics
-- and human score of the official ranking: the first of `rank -m "acc23(by=item, pool=pairs)"`.
WITH summed AS (
  SELECT
    e.testset,
    e.lp,
    e.standard_human_seg AS human,
    k.metric,
    sum(k.n_concordant) AS c,
    sum(k.n_discordant) AS d,
    sum(k.n_tied_human) AS th,
    sum(k.n_tied_metric) AS tm,
    sum(k.n_tied_both) AS thm
  FROM evalsets AS e, concordance_official(e.testset, e.lp) AS k
  WHERE k.reason IS NULL
  GROUP BY ALL
)
SELECT testset, lp, human, metric, acc23(c, d, th, tm, thm) AS accuracy, tau_b(c, d, th, tm, thm) AS tau_b
FROM summed
QUALIFY row_number() OVER (PARTITION BY testset, lp ORDER BY accuracy DESC, metric) = 1
ORDER BY testset, lp, accuracy DESC, metric
