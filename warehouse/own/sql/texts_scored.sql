-- Sources and outputs of an evaluation set; human translations are outputs, too.
-- Params: $testset, $lp. One row per text: system (NULL for a source), segment, text.
SELECT x.name, x.segment, x.text
FROM segment_text AS x
JOIN evalset AS e ON e.evalset_id = x.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE t.name = $testset AND e.lp = $lp
ORDER BY x.kind = 'output', x.name, x.segment
