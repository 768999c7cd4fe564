-- Annotations of one scorer as WMT25's task 2 writes them; the span without a place is `missing`.
-- Params: $testset, $lp, $scorer, $source, $target. One row per valid annotation.
WITH marked AS (
  SELECT
    annotation,
    string_agg(coalesce(span_start::VARCHAR, 'missing'), ' ' ORDER BY span_start, span_end, severity) AS starts,
    string_agg(coalesce(span_end::VARCHAR, 'missing'), ' ' ORDER BY span_start, span_end, severity) AS ends,
    string_agg(severity, ' ' ORDER BY span_start, span_end, severity) AS severities
  FROM spans
  WHERE testset = $testset AND lp = $lp AND scorer = $scorer AND side = 'target'
    AND regexp_full_match(severity, '\S+') AND severity_class IS DISTINCT FROM 'no-error'
  GROUP BY annotation
)
SELECT
  g.document AS doc_id,
  a.segment AS segment_id,
  $source AS source_lang,
  $target AS target_lang,
  'official' AS set_id,
  a.system AS system_id,
  g.domain AS domain_name,
  $scorer AS method,
  /* rater */
  coalesce(m.starts, '-1') AS start_indices,
  coalesce(m.ends, '-1') AS end_indices,
  coalesce(m.severities, 'no-error') AS error_types
FROM annotations AS a
LEFT JOIN segments AS g ON g.testset = a.testset AND g.lp = a.lp AND g.segment = a.segment
LEFT JOIN marked AS m ON m.annotation = a.annotation
WHERE a.testset = $testset AND a.lp = $lp AND a.scorer = $scorer AND a.status = 'valid'
ORDER BY a.system, a.segment, a.rater, a.annotation
