-- Judgements behind one human score of an evaluation set, also those that do not count, in the order of files.
-- Repeats and fillers are no part of the score, but annotators made them like others: they show agreement.
-- Params: $evalset, $human. One row per judgement of a system; n is the number of judgements that its value is a mean of.
SELECT
  y.name AS system,
  j.segment,
  g.document,
  j.rater,
  j.value,
  coalesce(j.n, 1)::INTEGER AS n,
  j.time,
  j.status,
  j.status IN ('valid', 'repeat', 'filler') AND j.value IS NOT NULL AND y.kind <> 'qc' AS counts
FROM judgement AS j
JOIN vector AS v ON v.vector_id = j.vector_id AND v.evalset_id = $evalset AND v.level = 'seg'
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human' AND sc.name = $human
JOIN system AS y ON y.system_id = v.system_id
LEFT JOIN segment AS g ON g.evalset_id = v.evalset_id AND g.segment = j.segment
ORDER BY j.judgement_id;
