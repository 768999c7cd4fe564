-- How much of each year's output was judged, and by which protocol? Several human scores may come from the same
-- judgements (wmt-raw and wmt-z), so the fullest counts. The share is that of all segments of all judged systems, over
-- the language pairs with segment scores; NULL where there are none.
WITH fullest AS (
  SELECT
    year,
    testset,
    lp,
    protocol,
    max(n_systems) AS n_systems,
    max(n_scores) AS n_scores,
    max(n_scores + n_missing) AS n_segments,
    max(n_judgements) AS n_judgements
  FROM humans
  GROUP BY ALL
)
SELECT
  year,
  protocol,
  count(DISTINCT lp) AS n_lps,
  sum(n_systems) AS n_systems,
  sum(n_scores) AS n_scored,
  sum(n_scores) / nullif(sum(n_segments), 0) AS share_of_segments,
  sum(n_judgements) AS n_judgements
FROM fullest
GROUP BY ALL
ORDER BY year, protocol
