-- How severe is each annotator? Mean distance of a judgement from the mean of the judgements that its system got from
-- all annotators of the language pair, so that an annotator of weak systems is not called severe.
WITH placed AS (
  SELECT testset, lp, human, rater, value, value - avg(value) OVER (PARTITION BY testset, lp, human, system) AS distance
  FROM judgements
  WHERE status = 'valid' AND rater IS NOT NULL AND value IS NOT NULL
)
SELECT
  testset,
  lp,
  human,
  rater,
  count(*) AS n_judgements,
  avg(value) AS mean,
  stddev_samp(value) AS deviation,
  avg(distance) AS beside_all
FROM placed
GROUP BY ALL
ORDER BY abs(beside_all) DESC, testset, lp, rater
LIMIT 20
