-- By how many vectors of humans, and of metrics of the task, each system is scored. One row per system.
-- Params: $evalsets.
SELECT
  y.evalset_id,
  y.name,
  y.kind,
  count(*) FILTER (WHERE sc.kind = 'human') AS n_human,
  count(*) FILTER (WHERE sc.kind = 'metric' AND n.status IS DISTINCT FROM 'no entry') AS n_metric
FROM system AS y
JOIN vector AS v ON v.evalset_id = y.evalset_id AND v.system_id = y.system_id AND v.n_values > 0
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
LEFT JOIN entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id
WHERE y.evalset_id IN (SELECT unnest($evalsets::INTEGER[])) AND y.kind <> 'qc'
GROUP BY y.evalset_id, y.name, y.kind
ORDER BY y.evalset_id, y.name
