-- Scores of outputs standardised by annotator: (x − mean) / sd over all valid judgements of the annotator in the evaluation
-- set (ddof 1), then averaged over an output's judgements. Annotators with one judgement or no spread have none.
-- Params: $evalset, $human (identifier). One row per system and segment.
WITH valid AS (
  SELECT v.system_id, j.segment, j.rater, j.value
  FROM judgement AS j
  JOIN vector AS v ON v.vector_id = j.vector_id AND v.evalset_id = $evalset AND v.level = 'seg' AND v.scorer_id = $human
  JOIN system AS y ON y.system_id = v.system_id AND y.kind <> 'qc'
  WHERE j.status = 'valid' AND j.value IS NOT NULL
), annotator AS (
  SELECT rater, avg(value) AS mean, stddev_samp(value) AS sd
  FROM valid
  WHERE rater IS NOT NULL
  GROUP BY rater
  HAVING max(value) > min(value)
)
SELECT valid.system_id, valid.segment, avg((valid.value - annotator.mean) / annotator.sd) AS value
FROM valid
JOIN annotator ON annotator.rater = valid.rater
GROUP BY ALL
ORDER BY ALL;
