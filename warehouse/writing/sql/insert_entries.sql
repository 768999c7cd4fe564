-- An entry of each metric: with the status that its files say, else with the one that follows from the lists. That it
-- was not submitted does not follow from the batch alone: see `update_unsubmitted`.
-- Frame: evalset_id, scorer_id, status.
INSERT INTO entry
SELECT n.evalset_id, n.scorer_id, coalesce(o.status, n.status), coalesce(o.is_own, false)
FROM inserted_frame AS n
LEFT JOIN (
  SELECT
    f.evalset_id,
    sc.scorer_id,
    min(v.status) FILTER (WHERE v.is_own OR v.status <> 'no entry') AS status,
    bool_and(v.is_own) AS is_own
  FROM temp.staged_vector AS v
  JOIN temp.staged_source AS f ON f.file_no = v.file_no
  JOIN scorer AS sc ON sc.kind = v.kind AND sc.name = v.scorer
  GROUP BY f.evalset_id, sc.scorer_id
) AS o ON o.evalset_id = n.evalset_id AND o.scorer_id = n.scorer_id
ORDER BY n.evalset_id, n.scorer_id
