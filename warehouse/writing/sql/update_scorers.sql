-- Family, version and direction of metrics that hold in all years.
-- Params: $scorers, $families, $versions, $errors, as long as each other.
UPDATE scorer
SET family = n.family, version = n.version, is_error_measure = n.is_error_measure
FROM (
  SELECT
    unnest($scorers::INTEGER[]) AS scorer_id,
    unnest($families::VARCHAR[]) AS family,
    unnest($versions::VARCHAR[]) AS version,
    unnest($errors::BOOLEAN[]) AS is_error_measure
) AS n
WHERE scorer.scorer_id = n.scorer_id AND (
  scorer.family IS DISTINCT FROM n.family
  OR scorer.version IS DISTINCT FROM n.version
  OR scorer.is_error_measure <> n.is_error_measure
)
