-- The public face for SQL: scores and what lies behind them, names joined in, nothing internal.

CREATE MACRO scale_of(low, high) AS CASE
  WHEN low >= -0.001 AND high <= 1.001 THEN '0..1'
  WHEN low >= -0.1 AND high > 1.1 AND high <= 100.1 THEN '0..100'
  WHEN high <= 0.001 THEN '..0'
  WHEN low IS NOT NULL AND high IS NOT NULL THEN 'other'
END;
COMMENT ON MACRO scale_of IS 'Narrowest of the scales 0..1, 0..100 and ..0 (errors, negated) that holds scores from low to high, but for rounding; other where none does, NULL without scores.';

CREATE VIEW scores AS
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
COMMENT ON COLUMN scores.testset IS 'Test set, such as wmt23.';
COMMENT ON COLUMN scores.year IS 'Year of the shared task; NULL where not known.';
COMMENT ON COLUMN scores.lp IS 'Language pair, such as en-de.';
COMMENT ON COLUMN scores.domain IS 'Domain of the segment.';
COMMENT ON COLUMN scores.document IS 'Document of the segment.';
COMMENT ON COLUMN scores.segment IS 'Segment number inside the evaluation set.';
COMMENT ON COLUMN scores.system IS 'System scored.';
COMMENT ON COLUMN scores.metric IS 'Full name of the metric variant.';
COMMENT ON COLUMN scores.base_metric IS 'Name without the reference.';
COMMENT ON COLUMN scores.family IS 'Family of metrics, such as COMET; NULL where not known.';
COMMENT ON COLUMN scores.kind IS 'Kind of metric: string, embedding, trained, likelihood, llm, sentinel, random or unknown.';
COMMENT ON COLUMN scores.reference IS 'Reference used; NULL for none.';
COMMENT ON COLUMN scores.scale IS 'Narrowest of 0..1, 0..100 and ..0 (errors, negated) that holds all segment scores of the metric in the evaluation set, else other: what was observed, so that scores of different scales are not averaged.';
COMMENT ON COLUMN scores.value IS 'Score, higher is better (scores that count errors were negated, see metrics.is_negated); NULL where missing.';

CREATE VIEW human_scores AS
SELECT t.name AS testset, t.year, e.lp, g.domain, g.document, s.segment, y.name AS system, sc.name AS human, s.value
FROM internal.score AS s
JOIN internal.vector AS v ON v.vector_id = s.vector_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
JOIN internal.system AS y ON y.system_id = v.system_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.segment AS g ON g.evalset_id = v.evalset_id AND g.segment = s.segment;
COMMENT ON VIEW human_scores IS 'Segment scores of human protocols. One row per evaluation set, human score, system and segment.';
COMMENT ON COLUMN human_scores.testset IS 'Test set, such as wmt23.';
COMMENT ON COLUMN human_scores.year IS 'Year of the shared task; NULL where not known.';
COMMENT ON COLUMN human_scores.lp IS 'Language pair, such as en-de.';
COMMENT ON COLUMN human_scores.domain IS 'Domain of the segment.';
COMMENT ON COLUMN human_scores.document IS 'Document of the segment.';
COMMENT ON COLUMN human_scores.segment IS 'Segment number inside the evaluation set.';
COMMENT ON COLUMN human_scores.system IS 'System scored.';
COMMENT ON COLUMN human_scores.human IS 'Name of the human score.';
COMMENT ON COLUMN human_scores.value IS 'Score, higher is better; NULL where the file lists the segment without a score. Segments that it does not list have no row; humans.n_missing counts both.';

CREATE VIEW system_scores AS
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
COMMENT ON VIEW system_scores IS 'System scores, submitted and as means of segment scores. One row per evaluation set, scorer and system.';
COMMENT ON COLUMN system_scores.testset IS 'Test set, such as wmt23.';
COMMENT ON COLUMN system_scores.year IS 'Year of the shared task; NULL where not known.';
COMMENT ON COLUMN system_scores.lp IS 'Language pair, such as en-de.';
COMMENT ON COLUMN system_scores.kind IS 'metric or human.';
COMMENT ON COLUMN system_scores.scorer IS 'Full name of the metric variant, or human score.';
COMMENT ON COLUMN system_scores.base_metric IS 'Metric name without the reference; NULL for a human score.';
COMMENT ON COLUMN system_scores.family IS 'Family of metrics, such as COMET; NULL where not known, and for a human score.';
COMMENT ON COLUMN system_scores.metric_kind IS 'Kind of metric, the column kind of other views: string, embedding, trained, likelihood, llm, sentinel, random or unknown; NULL for a human score.';
COMMENT ON COLUMN system_scores.scale IS 'Narrowest of 0..1, 0..100 and ..0 (errors, negated) that holds all scores (column score) of the scorer in the evaluation set, else other: what was observed, so that scores of different scales are not averaged.';
COMMENT ON COLUMN system_scores.system IS 'System scored.';
COMMENT ON COLUMN system_scores.submitted IS 'Submitted system score; NULL where missing.';
COMMENT ON COLUMN system_scores.mean IS 'Mean of the segment scores that are not missing; NULL without any.';
COMMENT ON COLUMN system_scores.score IS 'The submitted score, else the mean. The official rankings take submitted scores only of scorers that have one for every included system: see ranked_scores.';
COMMENT ON COLUMN system_scores.score_source IS 'submitted or mean: where score is from; NULL without a score.';
COMMENT ON COLUMN system_scores.n_segments IS 'Segment scores in the mean.';
COMMENT ON COLUMN system_scores.n_missing IS 'Segments of the evaluation set without a score of this system, whether a file lists them or not: evalsets.n_segments less n_segments; NULL for a scorer without segment scores, and where people judged nothing of the system, or an attention check or tutorial.';

CREATE VIEW aggregate_scores AS
SELECT t.name AS testset, t.year, e.lp, sc.kind, sc.name AS scorer, y.name AS system, v.level, a.unit, a.value
FROM internal.aggregate_score AS a
JOIN internal.vector AS v ON v.vector_id = a.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN internal.system AS y ON y.system_id = v.system_id;
COMMENT ON VIEW aggregate_scores IS 'Submitted scores of whole test sets, domains and documents. One row per evaluation set, scorer, system, level and unit.';
COMMENT ON COLUMN aggregate_scores.testset IS 'Test set, such as wmt23.';
COMMENT ON COLUMN aggregate_scores.year IS 'Year of the shared task; NULL where not known.';
COMMENT ON COLUMN aggregate_scores.lp IS 'Language pair, such as en-de.';
COMMENT ON COLUMN aggregate_scores.kind IS 'metric or human.';
COMMENT ON COLUMN aggregate_scores.scorer IS 'Full name of the metric variant, or human score.';
COMMENT ON COLUMN aggregate_scores.system IS 'System scored.';
COMMENT ON COLUMN aggregate_scores.level IS 'sys, domain or doc.';
COMMENT ON COLUMN aggregate_scores.unit IS 'Domain or document; NULL at system level.';
COMMENT ON COLUMN aggregate_scores.value IS 'Score, higher is better (scores that count errors were negated, see metrics.is_negated); NULL where missing.';

CREATE VIEW judgements AS
WITH marked AS (
  SELECT judgement_id, count(*) AS n_errors
  FROM internal.rating
  GROUP BY judgement_id
)
SELECT
  t.name AS testset, e.lp, sc.name AS human, y.name AS system, j.segment, j.rater, j.value, j.n, j.time, j.status,
  coalesce(marked.n_errors, 0) AS n_errors
FROM internal.judgement AS j
JOIN internal.vector AS v ON v.vector_id = j.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN internal.system AS y ON y.system_id = v.system_id
LEFT JOIN marked ON marked.judgement_id = j.judgement_id;
COMMENT ON VIEW judgements IS 'Single human judgements. One row per judgement.';
COMMENT ON COLUMN judgements.testset IS 'Test set, such as wmt23.';
COMMENT ON COLUMN judgements.lp IS 'Language pair, such as en-de.';
COMMENT ON COLUMN judgements.human IS 'Human score that the judgement belongs to.';
COMMENT ON COLUMN judgements.system IS 'System judged.';
COMMENT ON COLUMN judgements.segment IS 'Segment number inside the evaluation set.';
COMMENT ON COLUMN judgements.rater IS 'Annotator; NULL where not known.';
COMMENT ON COLUMN judgements.value IS 'The judgement, higher is better.';
COMMENT ON COLUMN judgements.n IS 'Judgements aggregated in this row: 1 for a single one; NULL where the file does not say.';
COMMENT ON COLUMN judgements.time IS 'When, in UTC; NULL where not known.';
COMMENT ON COLUMN judgements.status IS 'valid, or why it is excluded from the score.';
COMMENT ON COLUMN judgements.n_errors IS 'Errors marked.';

CREATE VIEW ratings AS
SELECT
  t.name AS testset, e.lp, sc.name AS human, y.name AS system, j.segment, j.rater,
  r.category, r.severity, r.severity_class, r.weight, r.span_start, r.span_end, r.is_source_error, j.status
FROM internal.rating AS r
JOIN internal.judgement AS j ON j.judgement_id = r.judgement_id
JOIN internal.vector AS v ON v.vector_id = j.vector_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN internal.system AS y ON y.system_id = v.system_id;
COMMENT ON VIEW ratings IS 'Errors that annotators marked, also in judgements that are excluded from the score (see status). One row per error.';
COMMENT ON COLUMN ratings.testset IS 'Test set, such as wmt23.';
COMMENT ON COLUMN ratings.lp IS 'Language pair, such as en-de.';
COMMENT ON COLUMN ratings.human IS 'Human score that the error belongs to.';
COMMENT ON COLUMN ratings.system IS 'System judged.';
COMMENT ON COLUMN ratings.segment IS 'Segment number inside the evaluation set.';
COMMENT ON COLUMN ratings.rater IS 'Annotator; NULL where not known.';
COMMENT ON COLUMN ratings.category IS 'Kind of error; NULL where the annotator was asked for none, as for most errors of ESA.';
COMMENT ON COLUMN ratings.severity IS 'Severity as the file has it, such as Major.';
COMMENT ON COLUMN ratings.severity_class IS 'Severity spelled the same for all files, such as major.';
COMMENT ON COLUMN ratings.weight IS 'Penalty, 0 or more; NULL where errors have no weights, as in ESA.';
COMMENT ON COLUMN ratings.span_start IS 'First character of the span, from 0.';
COMMENT ON COLUMN ratings.span_end IS 'Character after the span.';
COMMENT ON COLUMN ratings.is_source_error IS 'True where the span lies in the source.';
COMMENT ON COLUMN ratings.status IS 'Status of the judgement, as in judgements: valid, or why it is excluded from the score.';
