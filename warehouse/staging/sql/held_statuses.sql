-- Status of the metrics of which the organisers' lists decide.
-- Params: $evalsets, their identifiers. One row per evaluation set and metric.
SELECT n.evalset_id, sc.base_name, n.status
FROM entry AS n
JOIN scorer AS sc ON sc.scorer_id = n.scorer_id
WHERE n.evalset_id IN (SELECT unnest($evalsets::INTEGER[])) AND NOT n.is_own AND n.status IS DISTINCT FROM 'no entry'
