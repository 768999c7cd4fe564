-- How many judgements does an annotator give, and how long does one take? Median time until
-- the annotator's next one, where that is less than ten minutes.
WITH timed AS (
  SELECT
    testset,
    lp,
    human,
    rater,
    time,
    lead(time) OVER (PARTITION BY testset, lp, human, rater ORDER BY time) - time AS took
  FROM judgements
  WHERE rater IS NOT NULL
)
SELECT
  testset, lp, human, count(DISTINCT rater) AS n_annotators, count(*) AS n_judgements,
  count(*) / count(DISTINCT rater) AS judgements_each,
  median(epoch(took)) FILTER (WHERE took < INTERVAL 10 MINUTES) AS seconds
FROM timed
GROUP BY ALL
ORDER BY testset, lp, human
