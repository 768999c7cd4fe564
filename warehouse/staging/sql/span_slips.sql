-- What is remarkable in the staged spans, by scorer. One row per evaluation set and scorer that marked errors.
-- Params: $first (identifier of the first staged judgement).
-- n_beyond: end behind the text. n_cut, n_cut_after: ends between two letters or digits of the text, as they stand and
-- one character after.
WITH placed AS (
  SELECT
    v.evalset_id, v.scorer_id, r.span_start, r.span_end, r.severity_class, x.text,
    r.span_end <= r.span_start AS is_empty,
    j.segment
  FROM temp.staged_judgement AS n
  JOIN span AS r ON r.judgement_id = $first + n.judgement_no
  JOIN judgement AS j ON j.judgement_id = r.judgement_id
  JOIN vector AS v ON v.vector_id = j.vector_id
  JOIN system AS y ON y.system_id = v.system_id
  LEFT JOIN segment_text AS x ON x.evalset_id = v.evalset_id AND x.segment = j.segment
    AND CASE WHEN r.is_source_error THEN x.kind = 'source' ELSE x.kind = 'output' AND x.name = y.name END
)
SELECT
  p.evalset_id,
  sc.name,
  count(*) AS n,
  count(*) FILTER (p.span_end > length(p.text)) AS n_beyond,
  count(*) FILTER (p.is_empty) AS n_empty,
  count(*) FILTER (
    p.span_end IS NOT NULL
    AND coalesce(p.severity_class, '') NOT IN ('minor', 'major', 'critical', 'neutral', 'no-error')
  ) AS n_undecided,
  count(*) FILTER (p.span_end IS NOT NULL AND p.text IS NOT NULL) AS n_placed,
  count(*) FILTER (regexp_matches(substr(p.text, p.span_end, 2), '^[\p{L}\p{N}]{2}$')) AS n_cut,
  count(*) FILTER (regexp_matches(substr(p.text, p.span_end + 1, 2), '^[\p{L}\p{N}]{2}$')) AS n_cut_after
FROM placed AS p
JOIN scorer AS sc ON sc.scorer_id = p.scorer_id
GROUP BY p.evalset_id, sc.name
ORDER BY p.evalset_id, sc.name
