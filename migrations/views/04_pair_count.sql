-- Pair counts of metrics against human scores: a view, and macros for any tie threshold and grouping.

CREATE OR REPLACE VIEW pair_counts AS
WITH cell AS (
  SELECT hv.evalset_id, hv.scorer_id AS human_id, mv.scorer_id AS metric_id, hv.system_id, h.segment, h.value AS h, m.value AS m
  FROM internal.vector AS hv
  JOIN internal.scorer AS hs ON hs.scorer_id = hv.scorer_id AND hs.kind = 'human'
  JOIN internal.score AS h ON h.vector_id = hv.vector_id AND h.value IS NOT NULL
  JOIN internal.vector AS mv ON mv.evalset_id = hv.evalset_id AND mv.system_id = hv.system_id AND mv.level = 'seg'
  JOIN internal.scorer AS ms ON ms.scorer_id = mv.scorer_id AND ms.kind = 'metric'
  JOIN internal.score AS m ON m.vector_id = mv.vector_id AND m.segment = h.segment AND m.value IS NOT NULL
  WHERE hv.level = 'seg'
),
counted AS (
  SELECT
    a.evalset_id,
    a.human_id,
    a.metric_id,
    a.segment,
    count(*) FILTER (WHERE a.h <> b.h AND a.m <> b.m AND (a.h > b.h) = (a.m > b.m)) AS n_concordant,
    count(*) FILTER (WHERE a.h <> b.h AND a.m <> b.m AND (a.h > b.h) <> (a.m > b.m)) AS n_discordant,
    count(*) FILTER (WHERE a.h = b.h AND a.m <> b.m) AS n_tied_human,
    count(*) FILTER (WHERE a.h <> b.h AND a.m = b.m) AS n_tied_metric,
    count(*) FILTER (WHERE a.h = b.h AND a.m = b.m) AS n_tied_both
  FROM cell AS a
  JOIN cell AS b
    ON b.evalset_id = a.evalset_id
    AND b.human_id = a.human_id
    AND b.metric_id = a.metric_id
    AND b.segment = a.segment
    AND b.system_id > a.system_id
  GROUP BY a.evalset_id, a.human_id, a.metric_id, a.segment
)
SELECT
  t.name AS testset, e.lp, hs.name AS human, ms.name AS metric, c.segment,
  c.n_concordant, c.n_discordant, c.n_tied_human, c.n_tied_metric, c.n_tied_both
FROM counted AS c
JOIN internal.evalset AS e ON e.evalset_id = c.evalset_id
JOIN internal.testset AS t ON t.testset_id = e.testset_id
JOIN internal.scorer AS hs ON hs.scorer_id = c.human_id
JOIN internal.scorer AS ms ON ms.scorer_id = c.metric_id;
COMMENT ON VIEW pair_counts IS 'Pair counts by segment at epsilon 0, over all systems with human scores. One row per evaluation set, human score, metric and segment. Filter by testset, lp and human: counting everything takes a long time.';
COMMENT ON COLUMN pair_counts.human IS 'Human score.';
COMMENT ON COLUMN pair_counts.n_concordant IS 'Pairs that the metric and the human score order the same way.';
COMMENT ON COLUMN pair_counts.n_discordant IS 'Pairs that they order in opposite ways.';
COMMENT ON COLUMN pair_counts.n_tied_human IS 'Pairs tied by the human score only.';
COMMENT ON COLUMN pair_counts.n_tied_metric IS 'Pairs tied by the metric only.';
COMMENT ON COLUMN pair_counts.n_tied_both IS 'Pairs tied by both.';

-- Arguments of table macros, checked: an unknown evaluation set is an error, one that is NULL is not. Arguments are
-- read once, where no name of the macro's own is in scope (`asked`): an argument such as e.lp, taken from the query around
-- the call, can't meet a column or an alias of the body.
CREATE OR REPLACE MACRO internal.question(testset, lp, human, epsilon, unit) AS TABLE
WITH asked(asked_testset, asked_lp, asked_human, asked_epsilon, asked_unit) AS (
  SELECT testset::VARCHAR, lp::VARCHAR, human::VARCHAR, epsilon::DOUBLE, unit::VARCHAR
),
place AS (
  SELECT t.name AS testset_name, e.lp AS lp_name, e.evalset_id
  FROM internal.testset AS t
  JOIN internal.evalset AS e ON e.testset_id = t.testset_id
)
SELECT
  CASE
    WHEN NOT (q.asked_unit IN ('item', 'system', 'doc', 'domain', 'none'))
      THEN error('unknown unit ''' || q.asked_unit || '''; available: item, system, doc, domain, none')::INTEGER
    WHEN NOT (q.asked_epsilon >= 0 AND isfinite(q.asked_epsilon))
      THEN error('epsilon is ' || q.asked_epsilon || ', expected a finite number from 0 on')::INTEGER
    WHEN q.asked_testset IS NULL OR q.asked_lp IS NULL THEN NULL
    ELSE coalesce(
      p.evalset_id,
      error(
        'no evaluation set ''' || q.asked_testset || ''' ''' || q.asked_lp
        || ''' in the warehouse; FROM evalsets lists those there are'
      )::INTEGER
    )
  END AS evalset_id,
  q.asked_testset,
  q.asked_lp,
  q.asked_human,
  q.asked_epsilon,
  q.asked_unit
FROM asked AS q
LEFT JOIN place AS p ON p.testset_name = q.asked_testset AND p.lp_name = q.asked_lp;
COMMENT ON MACRO TABLE internal.question IS 'Checked arguments of a table macro. Columns: evalset_id (NULL where testset or lp is), asked_testset, asked_lp, asked_human, asked_epsilon, asked_unit. An unknown evaluation set or unit is an error, and so is an epsilon that is negative or not finite.';

CREATE OR REPLACE MACRO concordance_by(testset, lp, human, epsilon, unit) AS TABLE
WITH question AS (
  SELECT q.evalset_id, q.asked_testset, q.asked_lp, q.asked_human, q.asked_epsilon, q.asked_unit
  FROM internal.question(testset, lp, human, epsilon, unit) AS q
),
judged AS (
  SELECT q.evalset_id, q.asked_epsilon, q.asked_unit, v.system_id, s.segment, s.value
  FROM question AS q
  JOIN internal.vector AS v ON v.evalset_id = q.evalset_id AND v.level = 'seg'
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human' AND sc.name = q.asked_human
  JOIN internal.score AS s ON s.vector_id = v.vector_id
  WHERE s.value IS NOT NULL AND q.asked_epsilon IS NOT NULL
),
cell AS (
  SELECT
    sc.name AS metric,
    CASE j.asked_unit
      WHEN 'item' THEN s.segment::VARCHAR
      WHEN 'system' THEN y.name
      WHEN 'doc' THEN g.document
      WHEN 'domain' THEN g.domain
      WHEN 'none' THEN 'all'
    END AS unit_name,
    v.system_id,
    s.segment,
    j.value AS h,
    s.value AS m,
    j.asked_epsilon AS epsilon_asked
  FROM judged AS j
  JOIN internal.vector AS v ON v.evalset_id = j.evalset_id AND v.system_id = j.system_id AND v.level = 'seg'
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
  JOIN internal.score AS s ON s.vector_id = v.vector_id AND s.segment = j.segment
  JOIN internal.system AS y ON y.system_id = v.system_id
  JOIN internal.segment AS g ON g.evalset_id = v.evalset_id AND g.segment = s.segment
  WHERE s.value IS NOT NULL
),
counted AS (
  SELECT
    a.metric,
    a.unit_name,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) > a.epsilon_asked AND (a.h > b.h) = (a.m > b.m)) AS concordant,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) > a.epsilon_asked AND (a.h > b.h) <> (a.m > b.m)) AS discordant,
    count(*) FILTER (WHERE a.h = b.h AND abs(a.m - b.m) > a.epsilon_asked) AS tied_human,
    count(*) FILTER (WHERE a.h <> b.h AND abs(a.m - b.m) <= a.epsilon_asked) AS tied_metric,
    count(*) FILTER (WHERE a.h = b.h AND abs(a.m - b.m) <= a.epsilon_asked) AS tied_both
  FROM cell AS a
  JOIN cell AS b
    ON b.metric = a.metric
    AND b.unit_name = a.unit_name
    AND (b.system_id > a.system_id OR (b.system_id = a.system_id AND b.segment > a.segment))
  GROUP BY a.metric, a.unit_name
),
measured AS (
  SELECT v.evalset_id, v.system_id, sc.name AS metric
  FROM internal.vector AS v
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
  WHERE v.level = 'seg' AND v.n_values > 0
),
assessed AS (
  SELECT v.evalset_id, v.system_id, sc.name AS human_name
  FROM internal.vector AS v
  JOIN internal.scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'human'
  WHERE v.level = 'seg' AND v.n_values > 0
),
human_list AS (
  SELECT h.evalset_id, string_agg(DISTINCT h.human_name, ', ' ORDER BY h.human_name) AS names
  FROM assessed AS h
  GROUP BY h.evalset_id
),
segment_count AS (
  SELECT
    g.evalset_id,
    count(*) FILTER (WHERE g.document IS NULL) AS n_without_doc,
    count(*) FILTER (WHERE g.domain IS NULL) AS n_without_domain
  FROM internal.segment AS g
  GROUP BY g.evalset_id
),
remark AS (
  SELECT
    q.evalset_id,
    CASE
      WHEN q.asked_testset IS NULL THEN 'no test set given (NULL)'
      WHEN q.asked_lp IS NULL THEN 'no language pair given (NULL)'
      WHEN q.asked_human IS NULL THEN 'no human score given (NULL)'
      WHEN q.asked_epsilon IS NULL THEN 'no epsilon given (NULL)'
      WHEN q.asked_unit IS NULL THEN 'no unit given (NULL)'
      WHEN h.human_name IS NULL
        THEN 'human score ''' || q.asked_human || ''' has no segment scores for ' || q.asked_testset || ' '
          || q.asked_lp || '; loaded: ' || coalesce(l.names, 'none')
      WHEN q.asked_unit = 'doc' AND n.n_without_doc > 0
        THEN 'segments in no unit, whose document is not known: ' || n.n_without_doc
      WHEN q.asked_unit = 'domain' AND n.n_without_domain > 0
        THEN 'segments in no unit, whose domain is not known: ' || n.n_without_domain
    END AS remark
  FROM question AS q
  LEFT JOIN (SELECT DISTINCT evalset_id, human_name FROM assessed) AS h
    ON h.evalset_id = q.evalset_id AND h.human_name = q.asked_human
  LEFT JOIN human_list AS l ON l.evalset_id = q.evalset_id
  LEFT JOIN segment_count AS n ON n.evalset_id = q.evalset_id
),
answer AS (
  SELECT k.metric, k.unit_name, k.concordant, k.discordant, k.tied_human, k.tied_metric, k.tied_both, NULL AS remark
  FROM counted AS k
  UNION ALL
  SELECT DISTINCT m.metric, NULL, NULL, NULL, NULL, NULL, NULL, r.remark
  FROM remark AS r
  LEFT JOIN measured AS m ON m.evalset_id = r.evalset_id
  WHERE r.remark IS NOT NULL
  UNION ALL
  SELECT m.metric, NULL, NULL, NULL, NULL, NULL, NULL, 'no system has segment scores of both'
  FROM question AS q
  JOIN measured AS m ON m.evalset_id = q.evalset_id
  JOIN assessed AS h ON h.evalset_id = q.evalset_id AND h.human_name = q.asked_human
  GROUP BY m.metric
  HAVING NOT bool_or(h.system_id = m.system_id)
)
SELECT
  k.metric,
  k.unit_name AS unit,
  k.concordant AS n_concordant,
  k.discordant AS n_discordant,
  k.tied_human AS n_tied_human,
  k.tied_metric AS n_tied_metric,
  k.tied_both AS n_tied_both,
  k.remark AS reason
FROM answer AS k
ORDER BY k.metric, k.unit_name;
COMMENT ON MACRO TABLE concordance_by IS 'Pair counts of every metric by unit (item, system, doc, domain or none), over all systems with human scores, at tie threshold epsilon. Columns: metric, unit, n_concordant, n_discordant, n_tied_human, n_tied_metric, n_tied_both, reason. If there is nothing to count, for example because the human score is not loaded, each metric has a row with NULL counts and the reason. Large units have many pairs, so select few metrics in a WHERE clause.';

CREATE OR REPLACE MACRO concordance(testset, lp, human, epsilon) AS TABLE
SELECT
  k.metric,
  k.unit::INTEGER AS segment,
  k.n_concordant,
  k.n_discordant,
  k.n_tied_human,
  k.n_tied_metric,
  k.n_tied_both,
  k.reason
FROM concordance_by(testset, lp, human, epsilon, 'item') AS k
ORDER BY k.metric, k.unit::INTEGER;
COMMENT ON MACRO TABLE concordance IS 'Pair counts of every metric by segment, over all systems with human scores, at tie threshold epsilon. Columns: metric, segment, n_concordant, n_discordant, n_tied_human, n_tied_metric, n_tied_both, reason. If there is nothing to count, for example because the human score is not loaded, each metric has a row with NULL counts and the reason.';
