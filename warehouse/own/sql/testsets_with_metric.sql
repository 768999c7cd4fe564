-- Test sets in which a metric of the organisers has that full or base name.
-- Params: $metric.
SELECT DISTINCT t.name
FROM entry AS n
JOIN scorer AS sc ON sc.scorer_id = n.scorer_id
JOIN evalset AS e ON e.evalset_id = n.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
WHERE NOT n.is_own AND (sc.base_name = $metric OR sc.name = $metric)
ORDER BY 1
