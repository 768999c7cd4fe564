-- Two scores of the same output side by side: human and metric, two protocols, two annotators; and the languages.

-- A view, since it is used twice: of a common table expression DuckDB 1.4 loses columns that two conditions name.
CREATE OR REPLACE VIEW internal.score_spread AS
SELECT -- with the names, so that conditions on them are met before means are taken
  t.name AS testset,
  e.lp,
  v.scorer_id,
  avg(s.value ORDER BY s.vector_id, s.segment) AS mean,
  nullif(stddev_samp(s.value ORDER BY s.vector_id, s.segment), 0) AS deviation
FROM internal.score AS s
JOIN internal.vector AS v ON v.vector_id = s.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
GROUP BY t.name, e.lp, v.scorer_id;
COMMENT ON VIEW internal.score_spread IS 'Mean and standard deviation of segment scores. One row per evaluation set and scorer.';
COMMENT ON COLUMN internal.score_spread.testset IS 'Test set, such as wmt23.';
COMMENT ON COLUMN internal.score_spread.lp IS 'Language pair, such as en-de.';
COMMENT ON COLUMN internal.score_spread.scorer_id IS 'Metric or human score.';
COMMENT ON COLUMN internal.score_spread.mean IS 'Mean of the scores, without missing ones.';
COMMENT ON COLUMN internal.score_spread.deviation IS 'Standard deviation of the scores (n - 1); NULL if all are equal.';

CREATE OR REPLACE VIEW scored_segments AS
WITH place AS (
  SELECT g.evalset_id, g.segment, g.domain, g.document, length(x.text) AS length
  FROM internal.segment AS g
  LEFT JOIN internal.segment_text AS x ON x.evalset_id = g.evalset_id AND x.segment = g.segment AND x.kind = 'source'
)
SELECT
  t.name AS testset,
  t.year,
  e.lp,
  hs.name AS human,
  ms.name AS metric,
  ms.base_name AS base_metric,
  f.family,
  f.kind,
  y.name AS system,
  h.segment,
  p.domain,
  p.document,
  p.length,
  h.value AS human_score,
  m.value AS metric_score,
  (h.value - hd.mean) / hd.deviation AS human_z,
  (m.value - md.mean) / md.deviation AS metric_z
FROM internal.vector AS hv
JOIN internal.scorer AS hs ON hs.scorer_id = hv.scorer_id AND hs.kind = 'human'
JOIN internal.vector AS mv ON mv.evalset_id = hv.evalset_id AND mv.system_id = hv.system_id AND mv.level = 'seg'
JOIN internal.scorer AS ms ON ms.scorer_id = mv.scorer_id AND ms.kind = 'metric'
JOIN internal.score AS h ON h.vector_id = hv.vector_id AND h.value IS NOT NULL
JOIN internal.score AS m ON m.vector_id = mv.vector_id AND m.segment = h.segment AND m.value IS NOT NULL
JOIN internal.evalset AS e ON e.evalset_id = hv.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.system AS y ON y.system_id = hv.system_id
JOIN place AS p ON p.evalset_id = hv.evalset_id AND p.segment = h.segment
JOIN internal.score_spread AS hd ON hd.testset = t.name AND hd.lp = e.lp AND hd.scorer_id = hv.scorer_id
JOIN internal.score_spread AS md ON md.testset = t.name AND md.lp = e.lp AND md.scorer_id = mv.scorer_id
LEFT JOIN internal.metric_fact AS f ON f.testset_id = e.testset_id AND f.base_name = ms.base_name
WHERE hv.level = 'seg';
COMMENT ON VIEW scored_segments IS 'Human and metric scores of segments side by side, for every segment with both: all human scores, metrics and systems, whether or not the official rankings include them (see participants). One row per evaluation set, human score, metric, system and segment.';
COMMENT ON COLUMN scored_segments.human IS 'Name of the human score, such as mqm.';
COMMENT ON COLUMN scored_segments.domain IS 'Domain of the segment; NULL if unknown.';
COMMENT ON COLUMN scored_segments.document IS 'Document of the segment; NULL if unknown.';
COMMENT ON COLUMN scored_segments.length IS 'Characters of the source text; NULL if it is not loaded.';
COMMENT ON COLUMN scored_segments.human_score IS 'Human score, higher is better.';
COMMENT ON COLUMN scored_segments.metric_score IS 'Metric''s score, higher is better.';
COMMENT ON COLUMN scored_segments.human_z IS 'Human score standardised: distance from the mean of all its segment scores in the evaluation set, in standard deviations (n - 1); NULL if all are equal.';
COMMENT ON COLUMN scored_segments.metric_z IS 'Metric''s score standardised in the same way over all its segment scores in the evaluation set; NULL if all are equal.';

CREATE OR REPLACE VIEW human_pairs AS
WITH judged AS (
  SELECT s.testset, s.year, s.lp, s.system, s.scorer AS human, protocol_of(s.scorer) AS protocol, s.score
  FROM system_scores AS s
  WHERE s.kind = 'human' AND s.score IS NOT NULL
)
SELECT
  a.testset,
  a.year,
  a.lp,
  a.system,
  y.kind AS system_kind,
  y.is_outlier,
  a.human AS human_a,
  a.protocol AS protocol_a,
  a.score AS score_a,
  b.human AS human_b,
  b.protocol AS protocol_b,
  b.score AS score_b
FROM judged AS a
JOIN judged AS b ON b.testset = a.testset AND b.lp = a.lp AND b.system = a.system AND b.human > a.human
JOIN internal.testset AS t ON t.name = a.testset
JOIN internal.evalset AS e ON e.testset_id = t.testset_id AND e.lp = a.lp
JOIN internal.system AS y ON y.evalset_id = e.evalset_id AND y.name = a.system
WHERE a.protocol <> b.protocol;
COMMENT ON VIEW human_pairs IS 'System scores of systems judged by two human protocols. One row per evaluation set, system and pair of human scores of different protocols.';
COMMENT ON COLUMN human_pairs.testset IS 'Test set, such as wmt20.';
COMMENT ON COLUMN human_pairs.system IS 'System judged.';
COMMENT ON COLUMN human_pairs.system_kind IS 'mt, human or qc.';
COMMENT ON COLUMN human_pairs.is_outlier IS 'True if official rankings exclude the system.';
COMMENT ON COLUMN human_pairs.human_a IS 'Human score whose name comes first in the alphabet.';
COMMENT ON COLUMN human_pairs.protocol_a IS 'Protocol of this human score, as in humans.';
COMMENT ON COLUMN human_pairs.score_a IS 'System score by human_a: submitted, else the mean over judged segments.';
COMMENT ON COLUMN human_pairs.human_b IS 'The other human score.';
COMMENT ON COLUMN human_pairs.protocol_b IS 'Protocol of human_b.';
COMMENT ON COLUMN human_pairs.score_b IS 'System score by human_b.';

CREATE OR REPLACE VIEW judgement_pairs AS
WITH valid AS (
  SELECT j.vector_id, j.segment, j.judgement_id, j.rater, j.value
  FROM internal.judgement AS j
  WHERE j.status = 'valid' AND j.rater IS NOT NULL AND j.value IS NOT NULL
)
SELECT
  t.name AS testset,
  t.year,
  e.lp,
  sc.name AS human,
  y.name AS system,
  a.segment,
  a.rater AS rater_a,
  a.value AS value_a,
  b.rater AS rater_b,
  b.value AS value_b
FROM valid AS a
JOIN valid AS b ON b.vector_id = a.vector_id AND b.segment = a.segment AND b.rater > a.rater
JOIN internal.vector AS v ON v.vector_id = a.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN internal.system AS y ON y.system_id = v.system_id;
COMMENT ON VIEW judgement_pairs IS 'Valid judgements of the same output by two annotators. One row per pair of judgements; an annotator who judged an output twice appears in two pairs.';
COMMENT ON COLUMN judgement_pairs.testset IS 'Test set, such as wmt24.';
COMMENT ON COLUMN judgement_pairs.lp IS 'Language pair, such as en-cs.';
COMMENT ON COLUMN judgement_pairs.human IS 'Human score that the judgements belong to.';
COMMENT ON COLUMN judgement_pairs.system IS 'System judged.';
COMMENT ON COLUMN judgement_pairs.rater_a IS 'Annotator whose name comes first in the alphabet.';
COMMENT ON COLUMN judgement_pairs.value_a IS 'Judgement of rater_a, higher is better.';
COMMENT ON COLUMN judgement_pairs.rater_b IS 'The other annotator.';
COMMENT ON COLUMN judgement_pairs.value_b IS 'Judgement of rater_b.';

CREATE OR REPLACE VIEW standardised_judgements AS
WITH valid AS (
  SELECT v.evalset_id, v.scorer_id, y.name AS system, j.segment, j.rater, j.value
  FROM internal.judgement AS j
  JOIN internal.vector AS v ON v.vector_id = j.vector_id AND v.level = 'seg'
  JOIN internal.system AS y ON y.system_id = v.system_id AND y.kind <> 'qc'
  WHERE j.status = 'valid' AND j.rater IS NOT NULL AND j.value IS NOT NULL
), annotator AS (
  SELECT evalset_id, scorer_id, rater, avg(value ORDER BY value) AS mean, stddev_samp(value ORDER BY value) AS sd
  FROM valid
  GROUP BY ALL
  HAVING max(value) > min(value)
)
SELECT
  t.name AS testset,
  t.year,
  e.lp,
  sc.name AS human,
  valid.system,
  valid.segment,
  valid.rater,
  valid.value,
  (valid.value - annotator.mean) / annotator.sd AS z
FROM valid
JOIN annotator USING (evalset_id, scorer_id, rater)
JOIN internal.evalset AS e ON e.evalset_id = valid.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = valid.scorer_id;
COMMENT ON VIEW standardised_judgements IS 'Valid judgements standardised by annotator, without annotators who gave only one judgement or equal ones. One row per judgement; the mean z of an output is its score in NAME:z.';
COMMENT ON COLUMN standardised_judgements.testset IS 'Test set, such as wmt24.';
COMMENT ON COLUMN standardised_judgements.lp IS 'Language pair, such as en-cs.';
COMMENT ON COLUMN standardised_judgements.human IS 'Human score that the judgement belongs to.';
COMMENT ON COLUMN standardised_judgements.system IS 'System judged.';
COMMENT ON COLUMN standardised_judgements.rater IS 'Annotator.';
COMMENT ON COLUMN standardised_judgements.value IS 'The judgement, higher is better.';
COMMENT ON COLUMN standardised_judgements.z IS 'Distance of the judgement from the mean of all valid judgements of the annotator in the evaluation set, in standard deviations (n - 1).';

CREATE OR REPLACE VIEW languages AS
SELECT k.code, k.name, k.script, k.in_da_training
FROM internal.language AS k;
COMMENT ON VIEW languages IS 'Languages of the loaded evaluation sets. One row per code, as in evalsets.source_language and target_language.';
COMMENT ON COLUMN languages.code IS 'Language code as in the evaluation sets, such as de or sr_Cyrl_RS.';
COMMENT ON COLUMN languages.name IS 'English name.';
COMMENT ON COLUMN languages.script IS 'Script (ISO 15924).';
COMMENT ON COLUMN languages.in_da_training IS 'True if WMT collected direct assessments for the language in 2017 to 2020; most trained metrics learned from these.';
