-- Vectors of evaluation sets with the number of scores in each, in order. Params: $evalsets.
SELECT vector_id, n_values + n_missing AS n
FROM vector
WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[])) AND level = 'seg'
ORDER BY vector_id
