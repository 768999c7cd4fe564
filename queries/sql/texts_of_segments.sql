-- Sources, references and system outputs of some segments.
-- Params: $evalset, $segments (list). One row per text.
SELECT x.segment, x.kind, x.name, x.text
FROM segment_text AS x
WHERE x.evalset_id = $evalset AND x.segment IN (SELECT unnest($segments::INTEGER[]))
ORDER BY x.segment, x.kind, x.name;
