-- The official slice: who is in the rankings, their scores, and the agreement that follows from them.

CREATE OR REPLACE VIEW participants AS
WITH named_human AS (
  SELECT DISTINCT v.evalset_id, v.scorer_id, sc.name
  FROM internal.vector AS v
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
),
human_list AS (
  SELECT evalset_id, count(*) AS n_humans, min(name) AS one
  FROM named_human
  GROUP BY evalset_id
),
-- Where no reference is official, the only one that metrics used stands in, as the only human score does.
only_reference AS (
  SELECT v.evalset_id, min(sc.reference) AS reference
  FROM internal.vector AS v
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
  GROUP BY v.evalset_id
  HAVING count(DISTINCT sc.reference) = 1
),
declared AS (
  SELECT
    e.evalset_id,
    e.testset_id,
    e.lp,
    coalesce(e.standard_reference, u.reference) AS reference,
    e.ranks_human_references,
    l.level,
    CASE l.level WHEN 'seg' THEN e.standard_human_seg ELSE coalesce(e.standard_human_sys, e.standard_human_seg) END
      AS official
  FROM internal.evalset AS e
  LEFT JOIN only_reference AS u ON u.evalset_id = e.evalset_id
  CROSS JOIN (VALUES ('sys'), ('seg')) AS l(level)
),
ranking AS MATERIALIZED (
  SELECT
    d.evalset_id,
    d.testset_id,
    d.lp,
    d.reference,
    d.ranks_human_references,
    d.level,
    h.scorer_id AS human_id,
    h.name AS human,
    CASE
      WHEN h.name IS NULL THEN 'no official human score is loaded'
      WHEN d.level = 'seg' AND NOT EXISTS (
        FROM internal.vector AS v
        WHERE v.evalset_id = d.evalset_id AND v.scorer_id = h.scorer_id AND v.level = 'seg' AND v.n_values > 0
      ) THEN 'human score ' || h.name || ' has no segment scores'
    END AS obstacle
  FROM declared AS d
  LEFT JOIN human_list AS l ON l.evalset_id = d.evalset_id
  LEFT JOIN named_human AS o ON o.evalset_id = d.evalset_id AND o.name = d.official
  LEFT JOIN named_human AS h
    ON h.evalset_id = d.evalset_id AND h.name = coalesce(o.name, CASE WHEN l.n_humans = 1 THEN l.one END)
),
judged AS (
  SELECT DISTINCT evalset_id, scorer_id, system_id
  FROM internal.vector
  WHERE n_values > 0
),
system_choice AS (
  SELECT
    r.evalset_id,
    r.level,
    y.system_id,
    y.name,
    CASE
      WHEN r.obstacle IS NOT NULL THEN r.obstacle
      WHEN j.system_id IS NULL THEN 'not judged by ' || r.human
      WHEN y.name = r.reference THEN 'the reference that the metrics use'
      WHEN y.is_outlier THEN 'on the organisers'' list of outliers'
      WHEN y.kind = 'qc' THEN 'an attention check or tutorial for annotators'
      WHEN y.kind = 'human' AND NOT r.ranks_human_references
        THEN 'a human translation'
    END AS reason
  FROM ranking AS r
  JOIN internal.system AS y ON y.evalset_id = r.evalset_id
  LEFT JOIN judged AS j
    ON j.evalset_id = r.evalset_id AND j.scorer_id = r.human_id AND j.system_id = y.system_id
),
chosen AS MATERIALIZED (
  SELECT c.evalset_id, c.level, c.system_id, c.name, h.vector_id AS human_vector
  FROM system_choice AS c
  JOIN ranking AS r ON r.evalset_id = c.evalset_id AND r.level = c.level
  LEFT JOIN internal.vector AS h
    ON h.evalset_id = c.evalset_id AND h.scorer_id = r.human_id AND h.system_id = c.system_id AND h.level = 'seg'
  WHERE c.reason IS NULL
),
measured AS (
  SELECT DISTINCT v.evalset_id, v.scorer_id
  FROM internal.vector AS v
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
),
-- What a metric has of each system of the ranking: segment scores, a submitted score.
held AS MATERIALIZED (
  SELECT
    c.evalset_id,
    c.level,
    m.scorer_id,
    c.system_id,
    c.name,
    c.human_vector,
    g.vector_id AS segment_vector,
    g.n_values AS n_segment_values,
    g.vector_id IS NOT NULL AS has_segments,
    s.vector_id IS NOT NULL AS has_submitted
  FROM chosen AS c
  JOIN measured AS m ON m.evalset_id = c.evalset_id
  LEFT JOIN internal.vector AS g
    ON g.evalset_id = c.evalset_id AND g.scorer_id = m.scorer_id AND g.system_id = c.system_id
    AND g.level = 'seg' AND g.n_values > 0
  LEFT JOIN internal.vector AS s
    ON s.evalset_id = c.evalset_id AND s.scorer_id = m.scorer_id AND s.system_id = c.system_id
    AND s.level = 'sys' AND s.n_values > 0
),
coverage AS MATERIALIZED (
  SELECT
    evalset_id,
    level,
    scorer_id,
    count(*) AS n_systems,
    count(*) FILTER (WHERE NOT has_segments) AS n_without_segments,
    count(*) FILTER (WHERE NOT has_submitted) AS n_without_submitted,
    list_sort(list(name) FILTER (WHERE NOT has_segments)) AS without_segments,
    list_sort(list(name) FILTER (WHERE NOT has_submitted)) AS without_submitted
  FROM held
  GROUP BY evalset_id, level, scorer_id
),
-- Only vectors with fewer scores than the test set has segments can miss one that was judged.
segment_count AS (
  SELECT evalset_id, count(*) AS n_segments
  FROM internal.segment
  GROUP BY evalset_id
),
incomplete AS MATERIALIZED (
  SELECT k.evalset_id, k.level, k.scorer_id, k.segment_vector, k.human_vector
  FROM held AS k
  JOIN segment_count AS t ON t.evalset_id = k.evalset_id
  WHERE k.has_segments AND k.human_vector IS NOT NULL AND k.n_segment_values < t.n_segments
),
judged_segment AS MATERIALIZED (
  SELECT vector_id, segment
  FROM internal.score
  WHERE value IS NOT NULL AND vector_id IN (SELECT human_vector FROM incomplete)
),
scored_segment AS MATERIALIZED (
  SELECT vector_id, segment
  FROM internal.score
  WHERE value IS NOT NULL AND vector_id IN (SELECT segment_vector FROM incomplete)
),
gap AS (
  SELECT k.evalset_id, k.level, k.scorer_id, count(*) FILTER (WHERE m.segment IS NULL) AS n_missing
  FROM incomplete AS k
  JOIN judged_segment AS h ON h.vector_id = k.human_vector
  LEFT JOIN scored_segment AS m ON m.vector_id = k.segment_vector AND m.segment = h.segment
  GROUP BY k.evalset_id, k.level, k.scorer_id
),
metric_choice AS (
  SELECT
    r.evalset_id,
    r.level,
    sc.name,
    CASE
      WHEN r.obstacle IS NOT NULL THEN r.obstacle
      WHEN c.scorer_id IS NULL THEN 'no system remains'
      WHEN sc.reference IS NOT NULL AND sc.reference IS DISTINCT FROM r.reference
        THEN 'computed with ' || sc.reference || coalesce(', not with reference ' || r.reference, '; no reference is official')
      WHEN n.is_own THEN 'added by a user'
      WHEN n.status = 'no entry' THEN 'not submitted to the metrics task'
      WHEN c.n_without_segments > 0 AND c.n_without_submitted > 0
        THEN 'no scores for the output of ' || array_to_string(
          CASE WHEN c.n_without_segments <= c.n_without_submitted THEN c.without_segments ELSE c.without_submitted END[1:3],
          ', '
        ) || CASE
          WHEN least(c.n_without_segments, c.n_without_submitted) > 3
            THEN ' and ' || (least(c.n_without_segments, c.n_without_submitted) - 3) || ' more'
          ELSE ''
        END
      WHEN r.level = 'sys' AND c.n_without_submitted = 0 THEN NULL
      WHEN c.n_without_segments = c.n_systems THEN 'no segment scores'
      WHEN c.n_without_segments > 0
        THEN 'no segment scores for the output of ' || array_to_string(c.without_segments[1:3], ', ')
          || CASE WHEN c.n_without_segments > 3 THEN ' and ' || (c.n_without_segments - 3) || ' more' ELSE '' END
      WHEN g.n_missing > 0
        THEN g.n_missing || CASE WHEN g.n_missing = 1 THEN ' (system, segment) score missing' ELSE ' (system, segment) scores missing' END
    END AS reason
  FROM ranking AS r
  JOIN measured AS m ON m.evalset_id = r.evalset_id
  JOIN internal.scorer AS sc ON sc.scorer_id = m.scorer_id
  LEFT JOIN internal.entry AS n ON n.evalset_id = m.evalset_id AND n.scorer_id = m.scorer_id
  LEFT JOIN coverage AS c ON c.evalset_id = r.evalset_id AND c.level = r.level AND c.scorer_id = m.scorer_id
  LEFT JOIN gap AS g ON g.evalset_id = r.evalset_id AND g.level = r.level AND g.scorer_id = m.scorer_id
),
choice AS (
  SELECT evalset_id, level, 'system' AS kind, name, reason FROM system_choice
  UNION ALL
  SELECT evalset_id, level, 'metric', name, reason FROM metric_choice
)
SELECT
  t.name AS testset,
  t.year,
  r.lp,
  r.level,
  r.human,
  c.kind,
  c.name,
  c.reason IS NULL AS included,
  c.reason
FROM choice AS c
JOIN ranking AS r ON r.evalset_id = c.evalset_id AND r.level = c.level
JOIN internal.testset AS t ON t.testset_id = r.testset_id;
COMMENT ON VIEW participants IS 'Every system and metric considered for the official rankings, included or not, with the reason, as in `rank` with default options; `rank --explain` names the options that include them. One row per evaluation set, level, and system or metric.';
COMMENT ON COLUMN participants.level IS 'sys for rankings by system scores (pearson, pa), seg for those by segment scores (acc_eq, spa).';
COMMENT ON COLUMN participants.human IS 'Human score of the ranking: the official one of the level, else the only one loaded; NULL if there is neither.';
COMMENT ON COLUMN participants.kind IS 'system or metric.';
COMMENT ON COLUMN participants.name IS 'System, or full name of the metric variant.';
COMMENT ON COLUMN participants.included IS 'True if the ranking includes it.';
COMMENT ON COLUMN participants.reason IS 'Reason for exclusion; NULL if included.';

CREATE OR REPLACE VIEW ranked_scores AS
WITH included AS (
  SELECT p.testset, p.lp, p.human, p.kind, p.name
  FROM participants AS p
  WHERE p.level = 'sys' AND p.included
),
-- Submitted scores count where every system of the ranking has one, else the means of all do.
human_score AS (
  SELECT
    s.testset,
    s.lp,
    s.scorer AS human,
    s.system,
    CASE
      WHEN count(s.submitted) OVER of_ranking = count(*) OVER of_ranking THEN s.submitted
      ELSE s.mean
    END AS score
  FROM included AS i
  JOIN system_scores AS s
    ON s.testset = i.testset AND s.lp = i.lp AND s.kind = 'human' AND s.scorer = i.human AND s.system = i.name
  WHERE i.kind = 'system'
  WINDOW of_ranking AS (PARTITION BY s.testset, s.lp)
),
metric_score AS (
  SELECT
    s.testset,
    s.year,
    s.lp,
    s.scorer AS metric,
    s.base_metric,
    s.family,
    s.metric_kind,
    s.system,
    count(s.submitted) OVER of_metric = count(*) OVER of_metric AS is_submitted,
    s.submitted,
    s.mean
  FROM included AS i
  JOIN included AS y ON y.testset = i.testset AND y.lp = i.lp AND y.kind = 'system'
  JOIN system_scores AS s
    ON s.testset = i.testset AND s.lp = i.lp AND s.kind = 'metric' AND s.scorer = i.name AND s.system = y.name
  WHERE i.kind = 'metric'
  WINDOW of_metric AS (PARTITION BY s.testset, s.lp, s.scorer)
)
SELECT
  m.year,
  m.testset,
  m.lp,
  h.human,
  m.metric,
  m.base_metric,
  m.family,
  m.metric_kind AS kind,
  m.system,
  h.score AS human_score,
  CASE WHEN m.is_submitted THEN m.submitted ELSE m.mean END AS metric_score,
  CASE WHEN m.is_submitted THEN 'submitted' ELSE 'mean' END AS score_source
FROM metric_score AS m
JOIN human_score AS h ON h.testset = m.testset AND h.lp = m.lp AND h.system = m.system AND h.score IS NOT NULL;
COMMENT ON VIEW ranked_scores IS 'System scores in the official rankings (official human score, only included systems and metrics), so that corr(human_score, metric_score) by testset, lp and metric is the official Pearson correlation. One row per evaluation set, metric and system.';
COMMENT ON COLUMN ranked_scores.human IS 'Official human score of systems; if that is not loaded, the only one that is.';
COMMENT ON COLUMN ranked_scores.metric IS 'Full name of the metric variant, such as BLEU-refA.';
COMMENT ON COLUMN ranked_scores.base_metric IS 'Name without the reference, such as BLEU.';
COMMENT ON COLUMN ranked_scores.human_score IS 'Human system score: submitted if every included system has one, else the mean over judged segments.';
COMMENT ON COLUMN ranked_scores.metric_score IS 'Metric''s system score, higher is better: submitted if every included system has one, else the mean of its segment scores.';
COMMENT ON COLUMN ranked_scores.score_source IS 'Source of metric_score: submitted or mean.';

-- An unknown evaluation set is an error under any filter: what is listed is joined by evalset_id, and the row without one
-- has a name that depends on it.
CREATE OR REPLACE MACRO internal.official_list(testset, lp, ranked_level, epsilon) AS TABLE
WITH asked(asked_level) AS (
  SELECT ranked_level::VARCHAR
),
question AS (
  SELECT q.evalset_id, q.asked_testset, q.asked_lp, q.asked_epsilon
  FROM internal.question(testset, lp, NULL, epsilon, NULL) AS q
)
SELECT q.evalset_id, p.human, p.kind, p.name, p.reason, q.asked_epsilon
FROM question AS q
JOIN internal.evalset AS e ON e.evalset_id = q.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN participants AS p ON p.testset = t.name AND p.lp = e.lp
JOIN asked AS l ON l.asked_level = p.level
WHERE q.evalset_id IS NOT NULL
UNION ALL
SELECT
  q.evalset_id, NULL, 'metric', CASE WHEN q.evalset_id IS NOT NULL THEN q.asked_lp END,
  CASE WHEN q.asked_testset IS NULL THEN 'no test set given (NULL)' ELSE 'no language pair given (NULL)' END,
  q.asked_epsilon
FROM question AS q
WHERE q.evalset_id IS NULL;
COMMENT ON MACRO TABLE internal.official_list IS 'Systems and metrics of one evaluation set in the official ranking of a level, as in participants, included or not. Columns: evalset_id, human, kind, name, reason, asked_epsilon. If testset or lp is NULL, there is only one row, of kind metric, with the reason.';

-- System scores nearer than 1e-12 of the largest one's size differ by rounding alone and count as equal.
CREATE OR REPLACE MACRO pearson_by_metric(testset, lp) AS TABLE
WITH listed AS (
  SELECT l.evalset_id, l.human, l.name, l.reason
  FROM internal.official_list(testset, lp, 'sys', NULL) AS l
  WHERE l.kind = 'metric'
),
measured AS (
  SELECT
    q.evalset_id,
    r.metric,
    count(*) AS n,
    CASE
      WHEN max(r.human_score) - min(r.human_score) > 1e-12 * max(abs(r.human_score))
        AND max(r.metric_score) - min(r.metric_score) > 1e-12 * max(abs(r.metric_score))
        THEN corr(r.human_score, r.metric_score ORDER BY r.system)
    END AS coefficient
  FROM internal.question(testset, lp, NULL, NULL, NULL) AS q
  JOIN ranked_scores AS r ON r.testset = q.asked_testset AND r.lp = q.asked_lp
  GROUP BY q.evalset_id, r.metric
)
SELECT l.name AS metric, l.human, m.n AS n_systems, m.coefficient AS pearson, l.reason
FROM listed AS l
LEFT JOIN measured AS m ON m.evalset_id = l.evalset_id AND m.metric = l.name
ORDER BY m.coefficient DESC NULLS LAST, l.name;
COMMENT ON MACRO TABLE pearson_by_metric IS 'Pearson correlation of every metric with the official human score over the systems of the official ranking, best first, as in `rank -m pearson`. Columns: metric, human, n_systems, pearson (NULL if one side is constant), reason. Excluded metrics have a row with the reason.';

-- A metric that ties all systems would agree only on pairs that human scores tie: if there are any, it has no value.
CREATE OR REPLACE MACRO pairwise_accuracy_by_metric(testset, lp) AS TABLE
WITH listed AS (
  SELECT l.evalset_id, l.human, l.name, l.reason
  FROM internal.official_list(testset, lp, 'sys', NULL) AS l
  WHERE l.kind = 'metric'
),
cell AS (
  SELECT
    q.evalset_id,
    r.metric,
    r.system,
    r.human_score AS h,
    r.metric_score AS m,
    1e-12 * max(abs(r.human_score)) OVER of_metric AS h_noise,
    1e-12 * max(abs(r.metric_score)) OVER of_metric AS m_noise
  FROM internal.question(testset, lp, NULL, NULL, NULL) AS q
  JOIN ranked_scores AS r ON r.testset = q.asked_testset AND r.lp = q.asked_lp
  WINDOW of_metric AS (PARTITION BY q.evalset_id, r.metric)
),
pair AS (
  SELECT
    a.evalset_id,
    a.metric,
    CASE WHEN abs(a.h - b.h) > a.h_noise THEN sign(a.h - b.h) ELSE 0 END AS h_sign,
    CASE WHEN abs(a.m - b.m) > a.m_noise THEN sign(a.m - b.m) ELSE 0 END AS m_sign
  FROM cell AS a
  JOIN cell AS b ON b.evalset_id = a.evalset_id AND b.metric = a.metric AND b.system > a.system
),
measured AS (
  SELECT
    p.evalset_id,
    p.metric,
    count(*) AS n,
    CASE
      WHEN bool_or(p.h_sign <> 0) AND (bool_or(p.m_sign <> 0) OR bool_and(p.h_sign <> 0))
        THEN avg((p.h_sign = p.m_sign)::INTEGER)
    END AS accuracy
  FROM pair AS p
  GROUP BY p.evalset_id, p.metric
),
ranked AS (
  SELECT c.evalset_id, c.metric, count(*) AS n
  FROM cell AS c
  GROUP BY c.evalset_id, c.metric
)
SELECT
  l.name AS metric,
  l.human,
  k.n AS n_systems,
  CASE WHEN l.reason IS NULL THEN coalesce(m.n, 0) END AS n_pairs,
  m.accuracy AS pairwise_accuracy,
  l.reason
FROM listed AS l
LEFT JOIN ranked AS k ON k.evalset_id = l.evalset_id AND k.metric = l.name
LEFT JOIN measured AS m ON m.evalset_id = l.evalset_id AND m.metric = l.name
ORDER BY m.accuracy DESC NULLS LAST, l.name;
COMMENT ON MACRO TABLE pairwise_accuracy_by_metric IS 'Share of system pairs that every metric orders as the official human score does, over the systems of the official ranking, best first, as in `rank -m pa`. Columns: metric, human, n_systems, n_pairs, pairwise_accuracy (NULL without pairs, if human scores tie all systems, and for a metric that ties all systems if human scores tie some), reason. Excluded metrics have a row with the reason.';

CREATE OR REPLACE MACRO concordance_official(testset, lp, epsilon := 0) AS TABLE
WITH listed AS (
  SELECT l.evalset_id, l.human, l.kind, l.name, l.reason, l.asked_epsilon
  FROM internal.official_list(testset, lp, 'seg', epsilon) AS l
),
judged AS (
  SELECT l.evalset_id, y.system_id, s.segment, s.value, l.asked_epsilon
  FROM listed AS l
  JOIN internal.system AS y ON y.evalset_id = l.evalset_id AND y.name = l.name
  JOIN internal.scorer AS sc ON sc.kind = 'human' AND sc.name = l.human
  JOIN internal.vector AS v
    ON v.evalset_id = l.evalset_id AND v.scorer_id = sc.scorer_id AND v.system_id = y.system_id AND v.level = 'seg'
  JOIN internal.score AS s ON s.vector_id = v.vector_id
  WHERE l.kind = 'system' AND l.reason IS NULL AND l.asked_epsilon IS NOT NULL AND s.value IS NOT NULL
),
cell AS (
  SELECT j.evalset_id, l.name AS metric, j.system_id, j.segment, j.value AS h, s.value AS m, j.asked_epsilon AS margin
  FROM judged AS j
  JOIN listed AS l ON l.evalset_id = j.evalset_id AND l.kind = 'metric' AND l.reason IS NULL
  JOIN internal.scorer AS sc ON sc.kind = 'metric' AND sc.name = l.name
  JOIN internal.vector AS v
    ON v.evalset_id = j.evalset_id AND v.scorer_id = sc.scorer_id AND v.system_id = j.system_id AND v.level = 'seg'
  JOIN internal.score AS s ON s.vector_id = v.vector_id AND s.segment = j.segment
  WHERE s.value IS NOT NULL
),
counted AS (
  SELECT
    a.metric,
    a.segment AS number,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) > a.margin AND (a.h > b.h) = (a.m > b.m)) AS concordant,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) > a.margin AND (a.h > b.h) <> (a.m > b.m)) AS discordant,
    count(*) FILTER (WHERE a.h = b.h AND abs(a.m - b.m) > a.margin) AS tied_human,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) <= a.margin) AS tied_metric,
    count(*) FILTER (WHERE a.h = b.h AND abs(a.m - b.m) <= a.margin) AS tied_both
  FROM cell AS a
  JOIN cell AS b
    ON b.evalset_id = a.evalset_id AND b.metric = a.metric AND b.segment = a.segment AND b.system_id > a.system_id
  GROUP BY a.metric, a.segment
),
answer AS (
  SELECT k.metric, k.number, k.concordant, k.discordant, k.tied_human, k.tied_metric, k.tied_both, NULL AS remark
  FROM counted AS k
  UNION ALL
  SELECT l.name, NULL, NULL, NULL, NULL, NULL, NULL, coalesce(l.reason, 'no epsilon given (NULL)')
  FROM listed AS l
  WHERE l.kind = 'metric' AND (l.reason IS NOT NULL OR l.asked_epsilon IS NULL)
)
SELECT
  k.metric,
  k.number AS segment,
  k.concordant AS n_concordant,
  k.discordant AS n_discordant,
  k.tied_human AS n_tied_human,
  k.tied_metric AS n_tied_metric,
  k.tied_both AS n_tied_both,
  k.remark AS reason
FROM answer AS k
ORDER BY k.metric, k.number;
COMMENT ON MACRO TABLE concordance_official IS 'Pair counts of every metric by segment, as in concordance, for the systems, metrics and human score of the official segment-level ranking, at tie threshold epsilon. Columns: metric, segment, n_concordant, n_discordant, n_tied_human, n_tied_metric, n_tied_both, reason. Excluded metrics have a row with the reason.';
