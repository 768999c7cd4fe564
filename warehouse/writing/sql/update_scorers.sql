-- Family, version and direction of metrics that hold in all years.
-- Frame: scorer_id, family, version, is_error_measure.
UPDATE scorer
SET family = n.family, version = n.version, is_error_measure = n.is_error_measure
FROM inserted_frame AS n
WHERE scorer.scorer_id = n.scorer_id AND (
  scorer.family IS DISTINCT FROM n.family
  OR scorer.version IS DISTINCT FROM n.version
  OR scorer.is_error_measure <> n.is_error_measure
)
