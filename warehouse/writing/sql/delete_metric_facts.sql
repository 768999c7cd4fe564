-- Facts of metrics that are rewritten, and of those that a test set has no scores of any more.
-- Frame: testset_id, base_name, among others. Params: $here (test sets).
DELETE FROM metric_fact
WHERE testset_id IN (SELECT unnest($here::INTEGER[])) AND (
  (testset_id, base_name) IN (SELECT (testset_id, base_name) FROM inserted_frame)
  OR (testset_id, base_name) NOT IN (
    SELECT DISTINCT (e.testset_id, sc.base_name)
    FROM vector AS v
    JOIN evalset AS e ON e.evalset_id = v.evalset_id AND e.testset_id IN (SELECT unnest($here::INTEGER[]))
    JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
  )
)
