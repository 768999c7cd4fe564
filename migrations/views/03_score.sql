-- Public views of scores and the judgements behind them, with names instead of internal keys.

CREATE OR REPLACE MACRO scale_of(low, high) AS CASE
  WHEN low >= -0.001 AND high <= 1.001 THEN '0..1'
  WHEN low >= -0.1 AND high > 1.1 AND high <= 100.1 THEN '0..100'
  WHEN high <= 0.001 THEN '..0'
  WHEN low IS NOT NULL AND high IS NOT NULL THEN 'other'
END;
COMMENT ON MACRO scale_of IS 'Narrowest of the scales 0..1, 0..100 and ..0 (errors, negated) that contains all scores from low to high, up to rounding; other if none does, NULL without scores.';

CREATE OR REPLACE VIEW scores AS
WITH range AS (
  SELECT v.evalset_id, v.scorer_id, scale_of(min(s.value), max(s.value)) AS scale
  FROM internal.score AS s
  JOIN internal.vector AS v ON v.vector_id = s.vector_id
  GROUP BY v.evalset_id, v.scorer_id
)
SELECT
  t.name AS testset,
  t.year,
  e.lp,
  g.domain,
  g.document,
  s.segment,
  y.name AS system,
  sc.name AS metric,
  sc.base_name AS base_metric,
  f.family,
  f.kind,
  sc.reference,
  r.scale,
  s.value
FROM internal.score AS s
JOIN internal.vector AS v ON v.vector_id = s.vector_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
JOIN internal.system AS y ON y.system_id = v.system_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.segment AS g ON g.evalset_id = v.evalset_id AND g.segment = s.segment
LEFT JOIN internal.metric_fact AS f ON f.testset_id = e.testset_id AND f.base_name = sc.base_name
LEFT JOIN range AS r ON r.evalset_id = v.evalset_id AND r.scorer_id = v.scorer_id;
COMMENT ON VIEW scores IS 'Segment scores of metrics. One row per evaluation set, metric, system and segment.';
COMMENT ON COLUMN scores.domain IS 'Domain of the segment.';
COMMENT ON COLUMN scores.document IS 'Document of the segment.';
COMMENT ON COLUMN scores.family IS 'Family of metrics, such as COMET; NULL if unknown.';
COMMENT ON COLUMN scores.reference IS 'Reference used; NULL if none.';
COMMENT ON COLUMN scores.scale IS 'Narrowest of 0..1, 0..100 and ..0 (errors, negated) that contains all segment scores of the metric in the evaluation set, else other. It is observed, not declared; scores on different scales should not be averaged.';
COMMENT ON COLUMN scores.value IS 'Score, higher is better (scores that count errors were negated, see metrics.is_negated); NULL if missing.';

CREATE OR REPLACE VIEW human_scores AS
SELECT t.name AS testset, t.year, e.lp, g.domain, g.document, s.segment, y.name AS system, sc.name AS human, s.value
FROM internal.score AS s
JOIN internal.vector AS v ON v.vector_id = s.vector_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
JOIN internal.system AS y ON y.system_id = v.system_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.segment AS g ON g.evalset_id = v.evalset_id AND g.segment = s.segment;
COMMENT ON VIEW human_scores IS 'Segment scores of human protocols. One row per evaluation set, human score, system and segment.';
COMMENT ON COLUMN human_scores.domain IS 'Domain of the segment.';
COMMENT ON COLUMN human_scores.document IS 'Document of the segment.';
COMMENT ON COLUMN human_scores.human IS 'Name of the human score.';
COMMENT ON COLUMN human_scores.value IS 'Score, higher is better; NULL if the file lists the segment without a score. Unlisted segments have no row; humans.n_missing counts both.';

CREATE OR REPLACE VIEW system_scores AS
WITH submitted AS (
  SELECT v.evalset_id, v.scorer_id, v.system_id, a.value
  FROM internal.aggregate_score AS a
  JOIN internal.vector AS v ON v.vector_id = a.vector_id AND v.level = 'sys'
),
segment_mean AS ( -- with the names, so that conditions on them are met before the means are taken
  SELECT
    t.name AS testset,
    e.lp,
    sc.kind,
    sc.name AS scorer,
    v.evalset_id,
    v.system_id,
    avg(s.value ORDER BY s.segment) AS mean,
    count(s.value) AS n_segments
  FROM internal.score AS s
  JOIN internal.vector AS v ON v.vector_id = s.vector_id
  JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
  JOIN internal.testset AS t ON t.testset_id = e.testset_id
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
  GROUP BY t.name, e.lp, sc.kind, sc.name, v.evalset_id, v.system_id
),
scored AS (
  SELECT DISTINCT evalset_id, scorer_id, system_id
  FROM internal.vector
  WHERE level IN ('sys', 'seg')
),
ranged AS (
  SELECT
    t.name AS testset,
    t.year,
    e.lp,
    sc.kind,
    sc.name AS scorer,
    CASE sc.kind WHEN 'metric' THEN sc.base_name END AS base_metric,
    CASE sc.kind WHEN 'metric' THEN f.family END AS family,
    CASE sc.kind WHEN 'metric' THEN f.kind END AS metric_kind,
    min(coalesce(u.value, m.mean)) OVER (PARTITION BY t.name, e.lp, sc.kind, sc.name) AS lowest,
    max(coalesce(u.value, m.mean)) OVER (PARTITION BY t.name, e.lp, sc.kind, sc.name) AS highest,
    y.name AS system,
    u.value AS submitted,
    m.mean,
    coalesce(u.value, m.mean) AS score,
    CASE WHEN u.value IS NOT NULL THEN 'submitted' WHEN m.mean IS NOT NULL THEN 'mean' END AS score_source,
    coalesce(m.n_segments, 0) AS n_segments,
    CASE
      WHEN sc.kind = 'human' AND (y.kind = 'qc' OR coalesce(u.value, m.mean) IS NULL) THEN NULL
      WHEN bool_or(m.system_id IS NOT NULL) OVER (PARTITION BY t.name, e.lp, sc.kind, sc.name)
        THEN e.n_segments - coalesce(m.n_segments, 0)
    END AS n_missing
  FROM scored AS k
  JOIN internal.evalset AS e ON e.evalset_id = k.evalset_id
  JOIN internal.testset AS t ON t.testset_id = e.testset_id
  JOIN internal.scorer AS sc ON sc.scorer_id = k.scorer_id
  JOIN internal.system AS y ON y.system_id = k.system_id
  LEFT JOIN internal.metric_fact AS f ON f.testset_id = e.testset_id AND f.base_name = sc.base_name
  LEFT JOIN submitted AS u ON u.evalset_id = k.evalset_id AND u.scorer_id = k.scorer_id AND u.system_id = k.system_id
  LEFT JOIN segment_mean AS m ON m.testset = t.name AND m.lp = e.lp AND m.kind = sc.kind AND m.scorer = sc.name
    AND m.evalset_id = k.evalset_id AND m.system_id = k.system_id
)
SELECT
  r.testset,
  r.year,
  r.lp,
  r.kind,
  r.scorer,
  r.base_metric,
  r.family,
  r.metric_kind,
  scale_of(r.lowest, r.highest) AS scale,
  r.system,
  r.submitted,
  r.mean,
  r.score,
  r.score_source,
  r.n_segments,
  r.n_missing
FROM ranged AS r;
COMMENT ON VIEW system_scores IS 'System scores, both submitted and averaged from segment scores. One row per evaluation set, scorer and system.';
COMMENT ON COLUMN system_scores.kind IS 'metric or human.';
COMMENT ON COLUMN system_scores.base_metric IS 'Metric name without the reference; NULL for a human score.';
COMMENT ON COLUMN system_scores.family IS 'Family of metrics, such as COMET; NULL if unknown or for a human score.';
COMMENT ON COLUMN system_scores.metric_kind IS 'Kind of metric (the column kind in other views): string, embedding, trained, likelihood, llm, sentinel, random or unknown; NULL for a human score.';
COMMENT ON COLUMN system_scores.scale IS 'Narrowest of 0..1, 0..100 and ..0 (errors, negated) that contains all scores (column score) of the scorer in the evaluation set, else other. It is observed, not declared; scores on different scales should not be averaged.';
COMMENT ON COLUMN system_scores.submitted IS 'Submitted system score; NULL if missing.';
COMMENT ON COLUMN system_scores.mean IS 'Mean of the segment scores that are not missing; NULL without any.';
COMMENT ON COLUMN system_scores.score IS 'The submitted score, else the mean. The official rankings use submitted scores only if the scorer has one for every included system; see ranked_scores.';
COMMENT ON COLUMN system_scores.score_source IS 'Source of score: submitted or mean; NULL without a score.';
COMMENT ON COLUMN system_scores.n_segments IS 'Segment scores in the mean.';
COMMENT ON COLUMN system_scores.n_missing IS 'Segments of the evaluation set without a score for this system, whether or not a file lists them: evalsets.n_segments minus n_segments. NULL for a scorer without segment scores, for attention checks and tutorials, and for a human score that covers no segment of the system.';

CREATE OR REPLACE VIEW aggregate_scores AS
SELECT t.name AS testset, t.year, e.lp, sc.kind, sc.name AS scorer, y.name AS system, v.level, a.unit, a.value
FROM internal.aggregate_score AS a
JOIN internal.vector AS v ON v.vector_id = a.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN internal.system AS y ON y.system_id = v.system_id;
COMMENT ON VIEW aggregate_scores IS 'Submitted scores of whole test sets, domains and documents. One row per evaluation set, scorer, system, level and unit.';
COMMENT ON COLUMN aggregate_scores.kind IS 'metric or human.';
COMMENT ON COLUMN aggregate_scores.level IS 'sys, domain or doc.';
COMMENT ON COLUMN aggregate_scores.unit IS 'Domain or document; NULL at system level.';
COMMENT ON COLUMN aggregate_scores.value IS 'Score, higher is better (scores that count errors were negated, see metrics.is_negated); NULL if missing.';

CREATE OR REPLACE VIEW judgements AS
WITH marked AS (
  SELECT judgement_id, count(*) AS n_errors
  FROM internal.span
  GROUP BY judgement_id
)
SELECT
  t.name AS testset, e.lp, sc.name AS human, y.name AS system, j.segment, j.rater, j.value, j.n, j.time, j.status,
  coalesce(marked.n_errors, 0) AS n_errors
FROM internal.judgement AS j
JOIN internal.vector AS v ON v.vector_id = j.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
JOIN internal.system AS y ON y.system_id = v.system_id
LEFT JOIN marked ON marked.judgement_id = j.judgement_id;
COMMENT ON VIEW judgements IS 'Single human judgements. One row per judgement.';
COMMENT ON COLUMN judgements.human IS 'Human score that the judgement belongs to.';
COMMENT ON COLUMN judgements.system IS 'System judged.';
COMMENT ON COLUMN judgements.rater IS 'Annotator; NULL if unknown.';
COMMENT ON COLUMN judgements.value IS 'The judgement, higher is better.';
COMMENT ON COLUMN judgements.n IS 'Judgements aggregated in this row: 1 for a single one; NULL if the file does not say.';
COMMENT ON COLUMN judgements.time IS 'Time, in UTC; NULL if unknown.';
COMMENT ON COLUMN judgements.status IS 'valid, or the reason for its exclusion from the score.';
COMMENT ON COLUMN judgements.n_errors IS 'Errors marked.';

CREATE OR REPLACE VIEW preferences AS
SELECT
  t.name AS testset, t.year, e.lp, sc.kind, sc.name AS scorer, p.segment, p.ranking, a.name AS system_a, b.name AS system_b,
  p.rater, p.answer, p.is_same_output
FROM internal.preference AS p
JOIN internal.vector AS v ON v.vector_id = p.vector_a
JOIN internal.vector AS w ON w.vector_id = p.vector_b
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN internal.system AS a ON a.system_id = v.system_id
JOIN internal.system AS b ON b.system_id = w.system_id;
COMMENT ON VIEW preferences IS 'Preferences of annotators, or metrics, between two outputs; a ranking of several outputs is split into its pairs. One row per judged pair.';
COMMENT ON COLUMN preferences.kind IS 'human, or metric for a metric that states preferences.';
COMMENT ON COLUMN preferences.ranking IS 'Number of the ranking in its file; the pairs of one ranking share it.';
COMMENT ON COLUMN preferences.system_a IS 'System whose output was shown first.';
COMMENT ON COLUMN preferences.system_b IS 'System whose output was shown second.';
COMMENT ON COLUMN preferences.answer IS 'a or b, the better output, or tie.';
COMMENT ON COLUMN preferences.is_same_output IS 'True if the outputs are identical and were shown as one; the answer is tie.';

CREATE OR REPLACE VIEW annotations AS
WITH marked AS (
  SELECT judgement_id, count(*) AS n_spans
  FROM internal.span
  WHERE severity_class IS DISTINCT FROM 'no-error'
  GROUP BY judgement_id
)
SELECT
  j.judgement_id AS annotation, t.name AS testset, t.year, e.lp, sc.kind, sc.name AS scorer, y.name AS system, j.segment,
  j.rater, coalesce(marked.n_spans, 0) AS n_spans, j.status
FROM internal.judgement AS j
JOIN internal.vector AS v ON v.vector_id = j.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN internal.system AS y ON y.system_id = v.system_id
LEFT JOIN marked ON marked.judgement_id = j.judgement_id
WHERE v.level = 'seg';
COMMENT ON VIEW annotations IS 'Annotations of outputs: an annotator''s judgement, or a metric''s prediction of error spans. One row per annotation. An output predicted to be error-free has an annotation without spans; an output without a prediction has no annotation.';
COMMENT ON COLUMN annotations.annotation IS 'Identifier, as in spans.';
COMMENT ON COLUMN annotations.kind IS 'metric or human.';
COMMENT ON COLUMN annotations.system IS 'System that produced the output.';
COMMENT ON COLUMN annotations.n_spans IS 'Errors marked or predicted, including those without a position.';
COMMENT ON COLUMN annotations.status IS 'valid, or the reason for a judgement''s exclusion from the score.';

CREATE OR REPLACE VIEW spans AS
SELECT
  j.judgement_id AS annotation, t.name AS testset, t.year, e.lp, sc.kind, sc.name AS scorer, y.name AS system, j.segment,
  j.rater, CASE WHEN r.is_source_error THEN 'source' ELSE 'target' END AS side, r.span_start, r.span_end, r.severity,
  r.severity_class, r.category, r.weight, j.status
FROM internal.span AS r
JOIN internal.judgement AS j ON j.judgement_id = r.judgement_id
JOIN internal.vector AS v ON v.vector_id = j.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN internal.system AS y ON y.system_id = v.system_id;
COMMENT ON VIEW spans IS 'Errors marked by annotators or predicted by metrics, including those in judgements excluded from the score (see status). One row per error.';
COMMENT ON COLUMN spans.annotation IS 'The annotation, as in annotations.';
COMMENT ON COLUMN spans.kind IS 'metric or human.';
COMMENT ON COLUMN spans.system IS 'System that produced the output.';
COMMENT ON COLUMN spans.side IS 'Text that contains the span: source or target; target if the file does not say.';
COMMENT ON COLUMN spans.span_start IS 'First character of the span, from 0 (Unicode code points); NULL for an error without a position, such as an omission.';
COMMENT ON COLUMN spans.span_end IS 'Character after the span; NULL without a position.';
COMMENT ON COLUMN spans.severity IS 'Severity as in the file, such as Major.';
COMMENT ON COLUMN spans.severity_class IS 'Severity in a uniform spelling, such as major.';
COMMENT ON COLUMN spans.category IS 'Kind of error; NULL if no category was requested, as in most ESA data, and for most metrics.';
COMMENT ON COLUMN spans.weight IS 'Penalty, 0 or more; NULL if errors have no weights, as in ESA.';
COMMENT ON COLUMN spans.status IS 'Status of the annotation: valid, or the reason for a judgement''s exclusion from the score.';

CREATE OR REPLACE VIEW span_scores AS
WITH looked AS (
  SELECT j.judgement_id, v.evalset_id, v.system_id, j.segment, sc.kind, sc.name AS scorer, j.rater
  FROM internal.judgement AS j
  JOIN internal.vector AS v ON v.vector_id = j.vector_id AND v.level = 'seg'
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
  WHERE j.status = 'valid'
    AND (v.evalset_id, v.scorer_id) IN (
      SELECT (w.evalset_id, w.scorer_id)
      FROM internal.span AS r
      JOIN internal.judgement AS k ON k.judgement_id = r.judgement_id
      JOIN internal.vector AS w ON w.vector_id = k.vector_id
    )
), place AS (
  SELECT
    judgement_id, coalesce(is_source_error, false) AS is_in_source, span_start, span_end,
    row_number() OVER (PARTITION BY judgement_id ORDER BY span_start, span_end, severity_class) AS span_no
  FROM internal.span
  WHERE span_end > span_start AND severity_class IN ('minor', 'major', 'critical')
), size AS (
  SELECT judgement_id, count(*) AS n FROM place GROUP BY judgement_id
), pair AS (
  SELECT g.evalset_id, g.system_id, g.segment, g.judgement_id AS gold, g.scorer AS gold_scorer, g.rater AS gold_rater,
    p.judgement_id AS predicted, p.kind, p.scorer, p.rater
  FROM looked AS g
  JOIN looked AS p ON p.evalset_id = g.evalset_id AND p.system_id = g.system_id AND p.segment = g.segment
    AND p.judgement_id <> g.judgement_id
  WHERE g.kind = 'human'
), met AS (
  SELECT
    n.gold, n.predicted, count(DISTINCT a.span_no) AS n_gold_found, count(DISTINCT b.span_no) AS n_right
  FROM pair AS n
  JOIN place AS a ON a.judgement_id = n.gold
  JOIN place AS b ON b.judgement_id = n.predicted AND b.is_in_source = a.is_in_source
    AND b.span_start < a.span_end AND a.span_start < b.span_end
  GROUP BY n.gold, n.predicted
), counted AS (
  SELECT
    n.*, coalesce(g.n, 0) AS n_gold, coalesce(p.n, 0) AS n_predicted, coalesce(m.n_gold_found, 0) AS n_gold_found,
    coalesce(m.n_right, 0) AS n_right
  FROM pair AS n
  LEFT JOIN size AS g ON g.judgement_id = n.gold
  LEFT JOIN size AS p ON p.judgement_id = n.predicted
  LEFT JOIN met AS m ON m.gold = n.gold AND m.predicted = n.predicted
), rated AS (
  SELECT
    c.*, CASE WHEN n_predicted = 0 THEN 1 ELSE n_right / n_predicted END AS precision,
    CASE WHEN n_gold = 0 THEN 1 ELSE n_gold_found / n_gold END AS recall
  FROM counted AS c
)
SELECT
  t.name AS testset, t.year, e.lp, y.name AS system, c.segment, c.gold_scorer AS gold, c.gold_rater, c.kind, c.scorer,
  c.rater, c.n_gold, c.n_predicted, c.n_gold_found, c.n_right, c.precision, c.recall,
  CASE WHEN c.precision + c.recall > 0 THEN 2 * c.precision * c.recall / (c.precision + c.recall) ELSE 0 END AS f
FROM rated AS c
JOIN internal.evalset AS e ON e.evalset_id = c.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.system AS y ON y.system_id = c.system_id;
COMMENT ON VIEW span_scores IS 'Agreement of error spans with those that annotators marked in the same output. A span counts as found if it overlaps a span of the other annotation, whatever the severities (mp with matching many_to_many). One row per output and ordered pair of valid annotations, the first of them human; only scorers that marked errors.';
COMMENT ON COLUMN span_scores.system IS 'System that produced the output.';
COMMENT ON COLUMN span_scores.gold IS 'Human score whose spans serve as the gold standard.';
COMMENT ON COLUMN span_scores.gold_rater IS 'Annotator of the gold spans; NULL if unknown.';
COMMENT ON COLUMN span_scores.kind IS 'Kind of the compared scorer: metric or human.';
COMMENT ON COLUMN span_scores.scorer IS 'Compared metric variant or human score.';
COMMENT ON COLUMN span_scores.n_gold IS 'Gold spans with a position and a severity.';
COMMENT ON COLUMN span_scores.n_predicted IS 'The other annotation''s spans with a position and a severity.';
COMMENT ON COLUMN span_scores.n_gold_found IS 'Gold spans that overlap a span of the other annotation.';
COMMENT ON COLUMN span_scores.n_right IS 'The other annotation''s spans that overlap a gold span.';
COMMENT ON COLUMN span_scores.precision IS 'n_right / n_predicted; 1 without predicted spans. Over several outputs, divide the sums.';
COMMENT ON COLUMN span_scores.recall IS 'n_gold_found / n_gold; 1 without gold spans. Over several outputs, divide the sums.';
COMMENT ON COLUMN span_scores.f IS 'Harmonic mean of precision and recall; 0 if both are 0.';
