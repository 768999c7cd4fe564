-- The errors marked in the staged judgements, in the files' order.
-- Params: $first (identifier of the first judgement).
INSERT INTO span
SELECT $first + n.judgement_no, n.category, n.severity, n.weight, n.span_start, n.span_end, n.is_source_error,
  regexp_replace(lower(trim(n.severity)), '[ _]+', '-', 'g')
FROM temp.staged_span AS n
ORDER BY n.judgement_no, n.rowid
