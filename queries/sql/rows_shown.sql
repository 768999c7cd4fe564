-- Rows that the public views show of each table. Params: $testset, $lp; NULL for all.
-- One row per evaluation set and table: testset, lp, name of the table, number of rows.
WITH shown AS (
  SELECT testset, lp, 'score' AS name, count(*) AS n FROM scores GROUP BY ALL
  UNION ALL
  SELECT testset, lp, 'score', count(*) FROM human_scores GROUP BY ALL
  UNION ALL
  SELECT testset, lp, 'aggregate_score', count(*) FROM aggregate_scores GROUP BY ALL
  UNION ALL
  SELECT testset, lp, 'judgement', count(*) FROM judgements GROUP BY ALL
  UNION ALL
  SELECT testset, lp, 'rating', count(*) FROM ratings GROUP BY ALL
  UNION ALL
  SELECT testset, lp, 'segment', count(*) FROM segments GROUP BY ALL
  UNION ALL
  SELECT testset, lp, 'segment_text', count(*) FROM texts GROUP BY ALL
  UNION ALL
  SELECT testset, lp, 'system', count(*) FROM systems GROUP BY ALL
)
SELECT testset, lp, name, sum(n)::BIGINT AS n_rows
FROM shown
WHERE ($testset IS NULL OR testset = $testset) AND ($lp IS NULL OR lp = $lp)
GROUP BY testset, lp, name
ORDER BY testset, lp, name
