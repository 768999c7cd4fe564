-- Metrics and human scores that the warehouse does not have yet, numbered by kind and name.
INSERT INTO scorer (scorer_id, kind, name, base_name, reference, is_reference_free)
SELECT
  (SELECT coalesce(max(scorer_id), 0) FROM scorer) + row_number() OVER (ORDER BY n.kind, n.scorer),
  n.kind, n.scorer, any_value(n.base_name), any_value(n.reference), any_value(n.is_reference_free)
FROM temp.staged_vector AS n
WHERE NOT EXISTS (FROM scorer AS sc WHERE sc.kind = n.kind AND sc.name = n.scorer)
GROUP BY n.kind, n.scorer
