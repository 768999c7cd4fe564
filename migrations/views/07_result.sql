-- Stored results as plain columns. A payload that is no JSON (a damaged result) has no rows here.

CREATE OR REPLACE VIEW internal.readable_result AS
SELECT r.kind, r.testset, r.lp, r.signature, CASE WHEN json_valid(r.payload) THEN r.payload END AS payload, r.stored_at
FROM internal.result AS r
QUALIFY row_number() OVER (
  PARTITION BY r.kind, r.testset, r.lp, r.signature, CASE WHEN r.kind = 'trend' THEN r.key END ORDER BY r.stored_at DESC, r.key
) = 1;
COMMENT ON VIEW internal.readable_result IS 'Stored results whose payload can be read. One row per kind, place and signature (the latest result), and all results of histories, whose points each have a signature.';
COMMENT ON COLUMN internal.readable_result.kind IS 'What was computed, such as compare.';
COMMENT ON COLUMN internal.readable_result.testset IS 'Test set (several are joined by commas).';
COMMENT ON COLUMN internal.readable_result.lp IS 'Language pair (several are joined by commas).';
COMMENT ON COLUMN internal.readable_result.signature IS 'Measure, parameters, slice, counts, seed, conventions.';
COMMENT ON COLUMN internal.readable_result.payload IS 'The result, as JSON; NULL if it is not valid JSON.';
COMMENT ON COLUMN internal.readable_result.stored_at IS 'When it was stored, in UTC.';

CREATE OR REPLACE VIEW rankings AS
WITH comparison AS (
  SELECT
    r.testset, r.lp, r.signature, r.stored_at,
    from_json(r.payload, '{"measure": "VARCHAR", "metrics": ["VARCHAR"], "values": ["DOUBLE"], "ranks": ["INTEGER"], "clusters": ["INTEGER"]}') AS found
  FROM internal.readable_result AS r
  WHERE r.kind = 'compare'
),
scored AS (
  SELECT
    r.testset, r.lp, r.signature, r.stored_at,
    from_json(r.payload, '{"protocol": "VARCHAR", "metrics": ["VARCHAR"], "overall": ["DOUBLE"], "ranks": ["INTEGER"], "clusters": ["INTEGER"], "tasks": [{"lps": ["VARCHAR"], "measure": "VARCHAR", "values": ["DOUBLE"], "ranks": ["INTEGER"], "clusters": ["INTEGER"]}]}') AS found
  FROM internal.readable_result AS r
  WHERE r.kind = 'protocol'
),
task AS (
  SELECT s.testset, s.signature, s.stored_at, s.found.protocol AS protocol, s.found.metrics AS metrics, unnest(s.found.tasks) AS task
  FROM scored AS s
),
line AS (
  SELECT
    c.testset,
    c.lp,
    regexp_extract(c.signature, '(?:^|\|)human:([^|]*)', 1) AS human,
    NULL AS protocol,
    c.found.measure AS measure,
    unnest(c.found.metrics) AS metric,
    unnest(c.found.values) AS value,
    unnest(c.found.ranks) AS rank,
    unnest(c.found.clusters) AS cluster,
    c.signature,
    c.stored_at
  FROM comparison AS c
  UNION ALL
  SELECT
    s.testset, s.lp, NULL, s.found.protocol, 'overall', unnest(s.found.metrics), unnest(s.found.overall),
    unnest(s.found.ranks), unnest(s.found.clusters), s.signature, s.stored_at
  FROM scored AS s
  UNION ALL
  SELECT
    k.testset, array_to_string(k.task.lps, ','), NULL, k.protocol, k.task.measure, unnest(k.metrics),
    unnest(k.task.values), unnest(k.task.ranks), unnest(k.task.clusters), k.signature, k.stored_at
  FROM task AS k
)
SELECT
  n.testset,
  n.lp,
  nullif(n.human, '') AS human,
  n.protocol,
  n.measure,
  n.metric,
  n.value,
  CASE WHEN n.value IS NOT NULL THEN nullif(n.rank, 0) END AS rank,
  CASE WHEN n.value IS NOT NULL THEN nullif(n.cluster, 0) END AS cluster,
  n.signature,
  n.stored_at
FROM line AS n;
COMMENT ON VIEW rankings IS 'Metrics ranked in stored results: comparisons of many metrics (rank --significance, compare) and protocols. One row per signature, ranking and metric (the latest result); a protocol has a ranking for each task and an overall one. Results computed with different options have different signatures.';
COMMENT ON COLUMN rankings.testset IS 'Test set; several are joined by commas.';
COMMENT ON COLUMN rankings.lp IS 'Language pair; several are joined by commas.';
COMMENT ON COLUMN rankings.human IS 'Human score of a comparison; NULL for a protocol, which defines its own.';
COMMENT ON COLUMN rankings.protocol IS 'Rules of a shared task, such as wmt24; NULL for a comparison.';
COMMENT ON COLUMN rankings.measure IS 'Measure, such as acc_eq(by=item); overall for a protocol''s overall score.';
COMMENT ON COLUMN rankings.metric IS 'Full name of the metric variant; for a protocol, the name without the reference.';
COMMENT ON COLUMN rankings.value IS 'Value of the measure; NULL if undefined. Higher is better, except for overall scores that are mean ranks.';
COMMENT ON COLUMN rankings.rank IS 'Competition rank, 1 is best; NULL without a value.';
COMMENT ON COLUMN rankings.cluster IS 'Significance cluster, 1 is best; NULL without a value or a test.';

CREATE OR REPLACE VIEW comparisons AS
WITH many AS (
  SELECT
    r.testset, r.lp, r.signature, r.stored_at,
    from_json(r.payload, '{"measure": "VARCHAR", "test": "VARCHAR", "alternative": "VARCHAR", "correction": "VARCHAR", "alpha": "DOUBLE", "metrics": ["VARCHAR"], "values": ["DOUBLE"], "p": [["DOUBLE"]], "corrected": [["DOUBLE"]]}') AS found
  FROM internal.readable_result AS r
  WHERE r.kind = 'compare'
),
pair AS (
  SELECT m.*, a.place AS first, b.place AS second
  FROM many AS m
  CROSS JOIN LATERAL (SELECT unnest(generate_series(1, len(m.found.metrics))) AS place) AS a
  CROSS JOIN LATERAL (SELECT unnest(generate_series(1, len(m.found.metrics))) AS place) AS b
  WHERE a.place < b.place
),
two AS (
  SELECT
    r.testset, r.lp, r.signature, r.stored_at,
    from_json(r.payload, '{"measure": "VARCHAR", "metrics": ["VARCHAR"], "tests": [{"test": "VARCHAR", "alternative": "VARCHAR", "values": ["DOUBLE"], "p": "DOUBLE"}]}') AS found
  FROM internal.readable_result AS r
  WHERE r.kind = 'pairwise'
),
tested AS (
  SELECT w.testset, w.lp, w.signature, w.stored_at, w.found.measure AS measure, w.found.metrics AS metrics, unnest(w.found.tests) AS test
  FROM two AS w
),
line AS (
  SELECT
    k.testset,
    k.lp,
    k.found.measure AS measure,
    k.found.metrics[k.first] AS metric_a,
    k.found.metrics[k.second] AS metric_b,
    k.found.values[k.first] AS value_a,
    k.found.values[k.second] AS value_b,
    k.found.test AS test,
    k.found.alternative AS alternative,
    k.found.p[k.first][k.second] AS p,
    k.found.correction AS correction,
    k.found.corrected[k.first][k.second] AS corrected_p,
    k.found.corrected[k.first][k.second] <= k.found.alpha AS is_significant,
    k.signature,
    k.stored_at
  FROM pair AS k
  UNION ALL
  SELECT
    d.testset, d.lp, d.measure, d.metrics[1], d.metrics[2], d.test.values[1], d.test.values[2], d.test.test,
    d.test.alternative, d.test.p, 'none', d.test.p, NULL, d.signature, d.stored_at
  FROM tested AS d
)
SELECT
  n.testset,
  n.lp,
  nullif(regexp_extract(n.signature, '(?:^|\|)human:([^|]*)', 1), '') AS human,
  n.measure,
  n.metric_a,
  n.metric_b,
  n.value_a,
  n.value_b,
  n.value_a - n.value_b AS difference,
  n.test,
  n.alternative,
  n.p,
  n.correction,
  n.corrected_p,
  n.is_significant,
  n.signature,
  n.stored_at
FROM line AS n;
COMMENT ON VIEW comparisons IS 'Pairs of metrics compared in stored results, the better one first. One row per signature, pair and test (the latest result). Comparisons of many metrics have one test; a comparison of two metrics in depth may have every applicable test. Results computed with different options have different signatures.';
COMMENT ON COLUMN comparisons.human IS 'Human score.';
COMMENT ON COLUMN comparisons.measure IS 'Measure, such as acc_eq(by=item).';
COMMENT ON COLUMN comparisons.metric_a IS 'Metric with the higher value.';
COMMENT ON COLUMN comparisons.metric_b IS 'The other metric.';
COMMENT ON COLUMN comparisons.value_a IS 'Value of metric_a, computed from the system scores that the test uses.';
COMMENT ON COLUMN comparisons.value_b IS 'Value of metric_b.';
COMMENT ON COLUMN comparisons.difference IS 'value_a minus value_b.';
COMMENT ON COLUMN comparisons.test IS 'Significance test, such as perm-inputs.';
COMMENT ON COLUMN comparisons.alternative IS 'greater (metric_a is better) or two-sided.';
COMMENT ON COLUMN comparisons.p IS 'p-value; NULL if undefined.';
COMMENT ON COLUMN comparisons.correction IS 'Correction for many comparisons: none, holm or bh.';
COMMENT ON COLUMN comparisons.corrected_p IS 'p-value after the correction.';
COMMENT ON COLUMN comparisons.is_significant IS 'True if corrected_p is at most the result''s significance level; NULL for comparisons in depth, which have no significance level.';
