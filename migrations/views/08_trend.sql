-- Stored points of trends as plain columns, in the same way.

CREATE OR REPLACE VIEW trends AS
WITH history AS (
  SELECT
    r.testset, r.lp, r.stored_at,
    from_json(r.payload, '{"points": [{"human": "VARCHAR", "bridge": "VARCHAR", "measure": "VARCHAR", "metrics": ["VARCHAR"], "base_names": ["VARCHAR"], "value": ["DOUBLE"], "low": ["DOUBLE"], "high": ["DOUBLE"], "anchor": "VARCHAR", "gap": ["DOUBLE"], "gap_low": ["DOUBLE"], "gap_high": ["DOUBLE"], "gap_p": ["DOUBLE"], "context": {"n_systems": "INTEGER", "n_segments": "INTEGER", "human_sd": "DOUBLE", "significant_pairs": "DOUBLE", "tied_pairs": "DOUBLE", "coverage": "DOUBLE"}, "ceiling": {"value": "DOUBLE"}, "signature": "VARCHAR"}]}') AS found
  FROM internal.readable_result AS r
  WHERE r.kind = 'trend'
),
point AS (
  SELECT h.testset, h.lp, h.stored_at, unnest(h.found.points) AS p
  FROM history AS h
),
line AS (
  SELECT
    k.testset,
    k.lp,
    k.stored_at,
    k.p AS p,
    unnest(k.p.metrics) AS metric,
    unnest(k.p.base_names) AS base_metric,
    unnest(k.p.value) AS value,
    unnest(k.p.low) AS low,
    unnest(k.p.high) AS high,
    unnest(k.p.gap) AS gap,
    unnest(k.p.gap_low) AS gap_low,
    unnest(k.p.gap_high) AS gap_high,
    unnest(k.p.gap_p) AS gap_p
  FROM point AS k
)
SELECT
  t.year,
  n.testset,
  n.lp,
  n.p.human AS human,
  protocol_of(n.p.human) AS protocol,
  n.p.bridge AS bridge,
  n.p.measure AS measure,
  n.metric,
  n.base_metric,
  f.family,
  f.kind,
  n.value,
  n.low,
  n.high,
  n.p.anchor AS anchor,
  n.gap,
  n.gap_low,
  n.gap_high,
  n.gap_p,
  n.p.context.n_systems AS n_systems,
  n.p.context.n_segments AS n_segments,
  n.p.context.human_sd AS human_sd,
  n.p.context.significant_pairs AS significant_pairs,
  n.p.context.tied_pairs AS tied_pairs,
  n.p.context.coverage AS coverage,
  n.p.ceiling.value AS ceiling,
  n.p.signature AS signature,
  n.stored_at
FROM line AS n
LEFT JOIN internal.testset AS t ON t.name = n.testset
LEFT JOIN internal.metric_fact AS f ON f.testset_id = t.testset_id AND f.base_name = n.base_metric
QUALIFY row_number() OVER (
  PARTITION BY n.testset, n.lp, n.p.human, n.p.bridge, n.metric, n.p.signature ORDER BY n.stored_at DESC
) = 1;
COMMENT ON VIEW trends IS 'Points of stored trends: a measure on one evaluation set, with its interval, the gap to an anchor metric on the same data, and properties of the data. One row per signature, point (human score or bridge) and metric (the latest result).';
COMMENT ON COLUMN trends.human IS 'Human score with which metrics are compared.';
COMMENT ON COLUMN trends.protocol IS 'Protocol of this human score, as in humans.';
COMMENT ON COLUMN trends.bridge IS 'The other human score of a bridge (a point computed on the systems judged by both human scores); NULL for a point with the official human score.';
COMMENT ON COLUMN trends.measure IS 'Measure, such as pa.';
COMMENT ON COLUMN trends.value IS 'Value of the measure; NULL if undefined.';
COMMENT ON COLUMN trends.low IS 'Lower end of the 95% bootstrap interval of value; NULL if there is none.';
COMMENT ON COLUMN trends.high IS 'Upper end of that interval.';
COMMENT ON COLUMN trends.anchor IS 'Metric to which the gap is measured; NULL if there is none.';
COMMENT ON COLUMN trends.gap IS 'value minus the value of the anchor on the same data.';
COMMENT ON COLUMN trends.gap_low IS 'Lower end of the 95% interval of the gap.';
COMMENT ON COLUMN trends.gap_high IS 'Upper end of that interval.';
COMMENT ON COLUMN trends.gap_p IS 'Two-sided p-value of the paired test of the gap.';
COMMENT ON COLUMN trends.n_systems IS 'Systems from which the value is computed.';
COMMENT ON COLUMN trends.n_segments IS 'Judged segments from which the value is computed.';
COMMENT ON COLUMN trends.human_sd IS 'Standard deviation of the human system scores.';
COMMENT ON COLUMN trends.significant_pairs IS 'Share of system pairs whose human scores differ significantly.';
COMMENT ON COLUMN trends.tied_pairs IS 'Share of pairs of systems with equal human scores on a segment.';
COMMENT ON COLUMN trends.coverage IS 'Share of (system, segment) pairs with a human score.';
COMMENT ON COLUMN trends.ceiling IS 'Value of a second human score of the same outputs, evaluated like a metric; NULL if there is none.';
