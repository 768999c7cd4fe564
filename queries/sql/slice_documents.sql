-- Scores of documents by the metrics and the human score of a slice; a document goes by its number, as segments do.
-- Params: $evalset, $scorers and $systems (lists of identifiers), $segments (numbers of documents) and $documents (their
-- names). One row per scorer, system and document.
SELECT
  v.scorer_id, v.system_id,
  list_extract($segments::INTEGER[], list_position($documents::VARCHAR[], a.unit)) AS segment,
  a.value
FROM vector AS v
JOIN aggregate_score AS a ON a.vector_id = v.vector_id
WHERE v.evalset_id = $evalset AND v.level = 'doc' AND a.value IS NOT NULL
  AND v.scorer_id IN (SELECT unnest($scorers::INTEGER[]))
  AND v.system_id IN (SELECT unnest($systems::INTEGER[]))
  AND a.unit IN (SELECT unnest($documents::VARCHAR[]))
ORDER BY v.scorer_id, v.system_id, segment;
