-- Systems far from the others by the MAD rule: |score - median| / (1.4826 MAD) > 2.5, on official human system scores.
-- Params: $testset, $lp (NULL for all). One row per evaluation set, human score and system.
WITH judged AS (
  SELECT h.testset, h.lp, h.scorer AS human, h.system, y.is_outlier, coalesce(h.submitted, h.mean) AS score
  FROM system_scores AS h
  JOIN evalsets AS e ON e.testset = h.testset AND e.lp = h.lp AND h.scorer IN (e.standard_human_seg, e.standard_human_sys)
  JOIN systems AS y ON y.testset = h.testset AND y.lp = h.lp AND y.system = h.system AND y.kind = 'mt'
  WHERE h.kind = 'human' AND ($testset IS NULL OR h.testset = $testset) AND ($lp IS NULL OR h.lp = $lp)
    AND coalesce(h.submitted, h.mean) IS NOT NULL
),
middle AS (
  SELECT testset, lp, human, count(*) AS n, median(score) AS median, mad(score) AS mad
  FROM judged
  GROUP BY testset, lp, human
  HAVING n >= 5 AND mad(score) > 0
)
SELECT
  j.testset, j.lp, j.human, j.system, j.is_outlier, m.n, j.score,
  (j.score - m.median) / (1.4826 * m.mad) AS value
FROM judged AS j
JOIN middle AS m ON m.testset = j.testset AND m.lp = j.lp AND m.human = j.human
WHERE abs(value) > 2.5
ORDER BY j.testset, j.lp, j.human, j.system;
