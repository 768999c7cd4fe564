-- Agreement on error spans of two annotators of one human score, over the outputs that both marked.
-- Params: $testset, $lp, $human. One row per pair of annotators, a before b; n_a and n_b are their spans, found_a and
-- found_b those of them that overlap one of the other's.
SELECT
  gold_rater AS a,
  rater AS b,
  sum(n_gold)::BIGINT AS n_a,
  sum(n_predicted)::BIGINT AS n_b,
  sum(n_gold_found)::BIGINT AS found_a,
  sum(n_right)::BIGINT AS found_b
FROM span_scores
WHERE testset = $testset AND lp = $lp AND gold = $human AND scorer = $human AND kind = 'human' AND gold_rater < rater
GROUP BY ALL
ORDER BY ALL;
