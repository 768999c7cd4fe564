-- Public views of what is in the warehouse, with names instead of internal keys.

CREATE OR REPLACE VIEW testsets AS
SELECT
  t.name AS testset,
  t.year,
  CASE
    WHEN bool_or(sc.kind = 'human' AND sc.name = 'grade') OR t.testset_id IN (
      SELECT c.testset_id
      FROM internal.source AS o
      JOIN internal.evalset AS c ON c.evalset_id = o.evalset_id
      WHERE o.reader LIKE 'challenge-set/%'
    ) THEN 'challenge'
    WHEN bool_and(e.lp = 'no-lp') THEN 'other task'
    ELSE 'task'
  END AS kind,
  t.description,
  count(DISTINCT e.evalset_id) AS n_lps,
  count(DISTINCT v.scorer_id) FILTER (WHERE sc.kind = 'metric') AS n_metrics,
  count(DISTINCT v.scorer_id) FILTER (WHERE sc.kind = 'human') AS n_humans,
  coalesce(sum(v.n_values) FILTER (WHERE v.level = 'seg'), 0)::BIGINT AS n_scores
FROM internal.testset AS t
JOIN internal.evalset AS e ON e.testset_id = t.testset_id
LEFT JOIN internal.vector AS v ON v.evalset_id = e.evalset_id
LEFT JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
GROUP BY t.testset_id, t.name, t.year, t.description;
COMMENT ON VIEW testsets IS 'Test sets, with counts of what is loaded. One row per test set.';
COMMENT ON COLUMN testsets.kind IS 'challenge: metrics are compared with the expected order of outputs, not with human scores (the human score is grade, or the texts of a challenge set are loaded). other task: not translation, without a language pair. task: any other.';
COMMENT ON COLUMN testsets.description IS 'Short description.';
COMMENT ON COLUMN testsets.n_lps IS 'Language pairs loaded.';
COMMENT ON COLUMN testsets.n_metrics IS 'Metric variants with scores.';
COMMENT ON COLUMN testsets.n_humans IS 'Human scores.';
COMMENT ON COLUMN testsets.n_scores IS 'Segment scores, without missing ones.';

CREATE OR REPLACE VIEW evalsets AS
WITH scored AS (
  SELECT
    v.evalset_id,
    count(DISTINCT v.system_id) AS n_systems,
    count(DISTINCT v.scorer_id) FILTER (WHERE sc.kind = 'metric') AS n_metrics,
    count(DISTINCT v.scorer_id) FILTER (WHERE sc.kind = 'human') AS n_humans,
    sum(v.n_values) FILTER (WHERE v.level = 'seg') AS n_scores,
    list_sort(list(DISTINCT sc.name) FILTER (WHERE sc.kind = 'human' AND v.n_values > 0 AND v.level = 'seg'))
      AS humans_seg,
    list_sort(list(DISTINCT sc.name) FILTER (WHERE sc.kind = 'human' AND v.n_values > 0 AND v.level IN ('sys', 'seg')))
      AS humans_sys
  FROM internal.vector AS v
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
  GROUP BY v.evalset_id
)
SELECT
  t.name AS testset,
  t.year,
  e.lp,
  e.lp_base,
  e.source_language,
  e.target_language,
  e.standard_reference,
  e.standard_human_seg,
  coalesce(list_contains(k.humans_seg, e.standard_human_seg), false) AS is_standard_human_seg_loaded,
  e.standard_human_sys,
  coalesce(list_contains(k.humans_sys, regexp_replace(e.standard_human_sys, ':[a-z]+$', '')), false)
    AS is_standard_human_sys_loaded,
  array_to_string(k.humans_seg, ',') AS loaded_humans_seg,
  array_to_string(k.humans_sys, ',') AS loaded_humans_sys,
  e.n_segments,
  coalesce(k.n_systems, 0) AS n_systems,
  coalesce(k.n_metrics, 0) AS n_metrics,
  coalesce(k.n_humans, 0) AS n_humans,
  coalesce(k.n_scores, 0)::BIGINT AS n_scores
FROM internal.testset AS t
JOIN internal.evalset AS e ON e.testset_id = t.testset_id
LEFT JOIN scored AS k ON k.evalset_id = e.evalset_id;
COMMENT ON VIEW evalsets IS 'Evaluation sets (test set and language pair) with their official standards. One row per evaluation set.';
COMMENT ON COLUMN evalsets.lp_base IS 'Language pair without script and country: en-cs for en-cs_CZ.';
COMMENT ON COLUMN evalsets.source_language IS 'Language translated from.';
COMMENT ON COLUMN evalsets.target_language IS 'Language translated into.';
COMMENT ON COLUMN evalsets.standard_reference IS 'Official reference; NULL if not declared.';
COMMENT ON COLUMN evalsets.standard_human_seg IS 'Official human score of segments, loaded or not; NULL if not declared.';
COMMENT ON COLUMN evalsets.is_standard_human_seg_loaded IS 'True if the official human score has segment scores in this warehouse; if not, sums over official scores do not include this evaluation set.';
COMMENT ON COLUMN evalsets.standard_human_sys IS 'Official human score of systems, loaded or not, such as rr:bto (the score ''better than others'' from the rankings rr); NULL if not declared.';
COMMENT ON COLUMN evalsets.is_standard_human_sys_loaded IS 'True if the official human score of systems has scores of systems or segments in this warehouse.';
COMMENT ON COLUMN evalsets.loaded_humans_seg IS 'Human scores with segment scores in this warehouse, joined by commas; NULL if none.';
COMMENT ON COLUMN evalsets.loaded_humans_sys IS 'Human scores with scores of systems or segments in this warehouse, joined by commas; NULL if none.';
COMMENT ON COLUMN evalsets.n_segments IS 'Segments of the test set; NULL if unknown.';
COMMENT ON COLUMN evalsets.n_systems IS 'Systems, including human translations.';
COMMENT ON COLUMN evalsets.n_metrics IS 'Metric variants with scores.';
COMMENT ON COLUMN evalsets.n_humans IS 'Human scores.';
COMMENT ON COLUMN evalsets.n_scores IS 'Segment scores, without missing ones.';

CREATE OR REPLACE VIEW segments AS
SELECT t.name AS testset, e.lp, g.segment, g.position, g.domain, g.document, g.index_in_document, x.text AS source_text
FROM internal.segment AS g
JOIN internal.evalset AS e ON e.evalset_id = g.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
LEFT JOIN internal.segment_text AS x ON x.evalset_id = g.evalset_id AND x.segment = g.segment AND x.kind = 'source';
COMMENT ON VIEW segments IS 'Segments of evaluation sets, with their source text. One row per evaluation set and segment.';
COMMENT ON COLUMN segments.position IS 'Line in the test set, from 1; NULL if unknown.';
COMMENT ON COLUMN segments.domain IS 'Domain, such as news.';
COMMENT ON COLUMN segments.document IS 'Document.';
COMMENT ON COLUMN segments.index_in_document IS 'Position in the document, from 1.';
COMMENT ON COLUMN segments.source_text IS 'Text to translate; NULL if not loaded.';

CREATE OR REPLACE VIEW texts AS
SELECT t.name AS testset, e.lp, x.kind, x.name, x.segment, x.text
FROM internal.segment_text AS x
JOIN internal.evalset AS e ON e.evalset_id = x.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id;
COMMENT ON VIEW texts IS 'Source sentences, references and system outputs. One row per text and segment.';
COMMENT ON COLUMN texts.kind IS 'source, reference or output.';
COMMENT ON COLUMN texts.name IS 'Reference or system; NULL for a source.';
COMMENT ON COLUMN texts.text IS 'The text.';

CREATE OR REPLACE VIEW systems AS
SELECT
  t.name AS testset,
  e.lp,
  y.name AS system,
  y.canonical_name,
  y.kind,
  y.is_outlier,
  count(DISTINCT v.scorer_id) FILTER (WHERE sc.kind = 'metric') AS n_metrics,
  count(DISTINCT v.scorer_id) FILTER (WHERE sc.kind = 'human' AND v.n_values > 0) AS n_humans
FROM internal.system AS y
JOIN internal.evalset AS e ON e.evalset_id = y.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
LEFT JOIN internal.vector AS v ON v.system_id = y.system_id
LEFT JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id
GROUP BY ALL;
COMMENT ON VIEW systems IS 'Systems of evaluation sets. One row per evaluation set and system.';
COMMENT ON COLUMN systems.system IS 'Name as in the files.';
COMMENT ON COLUMN systems.canonical_name IS 'Name shared by all spellings of one system across evaluation sets: lower case, without the submission number (.1533) if that keeps it unique.';
COMMENT ON COLUMN systems.kind IS 'mt, human or qc.';
COMMENT ON COLUMN systems.is_outlier IS 'True if official rankings exclude the system.';
COMMENT ON COLUMN systems.n_metrics IS 'Metric variants that scored it.';
COMMENT ON COLUMN systems.n_humans IS 'Human scores that cover it.';

CREATE OR REPLACE VIEW spellings AS
SELECT t.name AS testset, e.lp, y.name AS system, x.spelling, x.rule
FROM internal.system_spelling AS x
JOIN internal.system AS y ON y.system_id = x.system_id
JOIN internal.evalset AS e ON e.evalset_id = y.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id;
COMMENT ON VIEW spellings IS 'Other names of a system in files, and the rule that joined them. One row per system and spelling.';
COMMENT ON COLUMN spellings.system IS 'Name of the system in all other views.';
COMMENT ON COLUMN spellings.spelling IS 'Name as in a file.';
COMMENT ON COLUMN spellings.rule IS 'Rule that joined the two: declared alias, same letters and digits, or number at the end removed.';

CREATE OR REPLACE VIEW metrics AS
SELECT
  t.name AS testset,
  t.year,
  e.lp,
  sc.name AS metric,
  sc.base_name AS base_metric,
  sc.reference,
  sc.is_reference_free,
  sc.family,
  n.status,
  coalesce(n.is_own, false) AS is_own,
  bool_or(v.is_negated) AS is_negated,
  bool_or(v.is_derived) AS is_derived,
  string_agg(DISTINCT v.level, ',' ORDER BY v.level) AS levels,
  count(DISTINCT v.system_id) AS n_systems,
  coalesce(sum(v.n_values) FILTER (WHERE v.level = 'seg'), 0)::BIGINT AS n_scores
FROM internal.vector AS v
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
LEFT JOIN internal.entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id
GROUP BY ALL;
COMMENT ON VIEW metrics IS 'Metric variants by evaluation set. One row per evaluation set and metric variant.';
COMMENT ON COLUMN metrics.metric IS 'Full name of the variant, such as BLEU-refA.';
COMMENT ON COLUMN metrics.reference IS 'Reference used; NULL if none.';
COMMENT ON COLUMN metrics.is_reference_free IS 'True for a reference-free metric.';
COMMENT ON COLUMN metrics.family IS 'Family of metrics; NULL if unknown.';
COMMENT ON COLUMN metrics.status IS 'primary, baseline, contrastive or no entry (not submitted to the metrics task); NULL if the year published no such list.';
COMMENT ON COLUMN metrics.is_own IS 'True for a metric that a user added.';
COMMENT ON COLUMN metrics.is_negated IS 'True if the file counts errors (TER of WMT12, metrics added with --lower-is-better) and its scores were negated when loaded, so that higher is better.';
COMMENT ON COLUMN metrics.is_derived IS 'True if the file has error spans but no scores; each output''s score is then -(5 major + 1 minor).';
COMMENT ON COLUMN metrics.levels IS 'Levels with scores, joined by commas.';
COMMENT ON COLUMN metrics.n_systems IS 'Systems scored.';
COMMENT ON COLUMN metrics.n_scores IS 'Segment scores.';

CREATE OR REPLACE VIEW metric_facts AS
SELECT
  t.name AS testset, t.year, f.base_name AS base_metric, f.family, f.version, f.kind, f.is_reference_free,
  f.is_error_measure, f.training_year, f.is_known
FROM internal.metric_fact AS f
JOIN internal.testset AS t ON t.testset_id = f.testset_id;
COMMENT ON VIEW metric_facts IS 'Family, kind and training of metrics, by test set. One row per test set and base metric.';
COMMENT ON COLUMN metric_facts.base_metric IS 'Metric name without the reference.';
COMMENT ON COLUMN metric_facts.version IS 'Version within the family; NULL if unknown.';
COMMENT ON COLUMN metric_facts.kind IS 'string, embedding, trained, likelihood, llm, sentinel, random or unknown.';
COMMENT ON COLUMN metric_facts.is_reference_free IS 'True for a reference-free metric; NULL if its name does not say.';
COMMENT ON COLUMN metric_facts.is_error_measure IS 'True if the metric counts errors by definition.';
COMMENT ON COLUMN metric_facts.training_year IS 'Newest WMT year whose human scores it was trained on; NULL if unpublished or not trained.';
COMMENT ON COLUMN metric_facts.is_known IS 'False if the name is not in the registry and its family was derived by a rule.';

CREATE OR REPLACE MACRO protocol_of(human) AS CASE
  WHEN regexp_replace(lower(human), '[-:](raw|z)$', '') IN ('wmt', 'da') THEN 'da'
  WHEN regexp_matches(
    regexp_replace(lower(human), '[-:](raw|z)$', ''), '^(mqm|da-sqm|esaai|esa|appraise)([.-]|$)|-(mqm|da-sqm|esaai|esa|appraise)$'
  )
    THEN regexp_extract(lower(human), 'mqm|da-sqm|esaai|esa|appraise')
  WHEN regexp_replace(human, '[-:](raw|z)$', '', 'i') = 'HUMAN' THEN 'rr'
  ELSE regexp_replace(human, '[-:](raw|z)$', '', 'i')
END;
COMMENT ON MACRO protocol_of IS 'Annotation protocol behind a human score, by its name: da (wmt-raw and wmt-z come from the same judgements), da-sqm, esa, esaai, mqm (mqm.merged aggregates the same errors), appraise, rr (HUMAN in the tables of the metrics tasks up to 2016 is computed from rankings); any other name is its own protocol.';

CREATE OR REPLACE VIEW humans AS
WITH single AS (
  SELECT v.evalset_id, v.scorer_id, count(*) AS n_judgements
  FROM internal.judgement AS j
  JOIN internal.vector AS v ON v.vector_id = j.vector_id
  GROUP BY v.evalset_id, v.scorer_id
)
SELECT
  t.name AS testset,
  t.year,
  e.lp,
  sc.name AS human,
  protocol_of(sc.name) AS protocol,
  coalesce(sc.name IN (e.standard_human_seg, regexp_replace(e.standard_human_sys, ':[a-z]+$', '')), false)
    AS is_standard,
  string_agg(DISTINCT v.level, ',' ORDER BY v.level) AS levels,
  count(DISTINCT v.system_id) FILTER (WHERE y.kind <> 'qc' AND v.n_values > 0) AS n_systems,
  coalesce(sum(v.n_values) FILTER (WHERE y.kind <> 'qc' AND v.level = 'seg'), 0)::BIGINT AS n_scores,
  CASE
    WHEN bool_or(v.level = 'seg')
      THEN (
        any_value(e.n_segments)::BIGINT * count(DISTINCT v.system_id) FILTER (WHERE y.kind <> 'qc' AND v.n_values > 0)
        - coalesce(sum(v.n_values) FILTER (WHERE y.kind <> 'qc' AND v.level = 'seg'), 0)
      )::BIGINT
  END AS n_missing,
  coalesce(any_value(single.n_judgements), 0) AS n_judgements
FROM internal.vector AS v
JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
JOIN internal.system AS y ON y.system_id = v.system_id
JOIN internal.evalset AS e ON e.evalset_id = v.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
LEFT JOIN single ON single.evalset_id = v.evalset_id AND single.scorer_id = v.scorer_id
GROUP BY ALL;
COMMENT ON VIEW humans IS 'Human scores by evaluation set. One row per evaluation set and human score.';
COMMENT ON COLUMN humans.human IS 'Name of the human score, such as mqm.';
COMMENT ON COLUMN humans.protocol IS 'Annotation protocol: da, da-sqm, esa, esaai, mqm, or the name of the human score; several human scores may share a protocol: wmt-raw and wmt-z come from the same judgements, esa-1 and esa-2 are two rounds.';
COMMENT ON COLUMN humans.is_standard IS 'True if it is the official score of segments or systems.';
COMMENT ON COLUMN humans.levels IS 'Levels with scores, joined by commas.';
COMMENT ON COLUMN humans.n_systems IS 'Systems with a score at any level; attention checks and tutorials do not count as systems.';
COMMENT ON COLUMN humans.n_scores IS 'Segment scores.';
COMMENT ON COLUMN humans.n_missing IS 'Segments without a judgement, summed over systems, whether or not a file lists them: n_systems times evalsets.n_segments, minus n_scores; NULL for a human score without segment scores.';
COMMENT ON COLUMN humans.n_judgements IS 'Single judgements loaded.';

CREATE OR REPLACE VIEW sources AS
SELECT t.name AS testset, e.lp, o.origin, o.path, o.sha256, o.n_bytes, o.reader, o.n_rows, o.n_missing, o.loaded_at, o.status, o.fault
FROM internal.source AS o
JOIN internal.evalset AS e ON e.evalset_id = o.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id;
COMMENT ON VIEW sources IS 'Files loaded or refused. One row per file and evaluation set.';
COMMENT ON COLUMN sources.origin IS 'Identity of the file, independent of its location.';
COMMENT ON COLUMN sources.path IS 'Path from which it was loaded.';
COMMENT ON COLUMN sources.sha256 IS 'Checksum of its content.';
COMMENT ON COLUMN sources.n_bytes IS 'Size in bytes.';
COMMENT ON COLUMN sources.reader IS 'Reader and its version.';
COMMENT ON COLUMN sources.n_rows IS 'Rows loaded from it.';
COMMENT ON COLUMN sources.n_missing IS 'Loaded rows without a value.';
COMMENT ON COLUMN sources.loaded_at IS 'Time, in UTC.';
COMMENT ON COLUMN sources.status IS 'loaded or refused.';
COMMENT ON COLUMN sources.fault IS 'Reason for refusal; NULL if loaded.';

CREATE OR REPLACE VIEW known_issues AS
SELECT testset, lp, scorer, system, issue, citation
FROM internal.known_issue;
COMMENT ON VIEW known_issues IS 'Published errors in the data. One row per issue.';
COMMENT ON COLUMN known_issues.scorer IS 'Metric or human score concerned; NULL for all.';
COMMENT ON COLUMN known_issues.system IS 'System concerned; NULL for all.';
COMMENT ON COLUMN known_issues.issue IS 'Description of the issue.';
COMMENT ON COLUMN known_issues.citation IS 'Source of this information.';

CREATE OR REPLACE VIEW results AS
SELECT kind, testset, lp, signature, payload, program_version, seconds, stored_at
FROM internal.result;
COMMENT ON VIEW results IS 'Stored results. One row per result.';
COMMENT ON COLUMN results.kind IS 'What was computed, such as compare.';
COMMENT ON COLUMN results.payload IS 'The result, as JSON.';
COMMENT ON COLUMN results.program_version IS 'Version of scorehouse.';
COMMENT ON COLUMN results.seconds IS 'Computing time in seconds.';
COMMENT ON COLUMN results.stored_at IS 'Time, in UTC.';
