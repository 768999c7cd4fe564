-- Segments, and whether a file declares them.
-- Params: $testsets, $lps, as long as each other. One row per segment.
SELECT t.name, e.lp, g.source_id IS NOT NULL, g.segment, g.position, g.document, g.index_in_document, g.domain
FROM segment AS g
JOIN evalset AS e ON e.evalset_id = g.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE (t.name, e.lp) IN (SELECT (n.testset, n.lp) FROM (SELECT unnest($testsets) AS testset, unnest($lps) AS lp) AS n)
ORDER BY g.segment
