-- Scorers whose submitted system scores are not the means of their segment scores, by more than a thousandth of the
-- spread of the submitted ones.
-- Params: $testset, $lp (NULL for all). One row per evaluation set and scorer.
WITH gap AS (
  SELECT
    testset,
    lp,
    kind,
    scorer,
    base_metric,
    abs(submitted - mean) AS gap,
    max(submitted) OVER (PARTITION BY testset, lp, kind, scorer)
      - min(submitted) OVER (PARTITION BY testset, lp, kind, scorer) AS spread
  FROM system_scores
  WHERE ($testset IS NULL OR testset = $testset) AND ($lp IS NULL OR lp = $lp)
    AND submitted IS NOT NULL AND mean IS NOT NULL
)
SELECT
  testset,
  lp,
  kind,
  scorer,
  base_metric,
  count(*) FILTER (WHERE gap > 1e-3 * spread + 1e-9) AS n,
  count(*) AS n_systems,
  max(gap) AS value
FROM gap
GROUP BY testset, lp, kind, scorer, base_metric
HAVING n > 0
ORDER BY testset, lp, kind, scorer;
