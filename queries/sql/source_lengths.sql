-- Characters of each source of an evaluation set.
-- Params: $evalset. One row per segment with a source text.
SELECT x.segment, length(x.text) AS n_characters
FROM segment_text AS x
WHERE x.evalset_id = $evalset AND x.kind = 'source'
ORDER BY x.segment;
