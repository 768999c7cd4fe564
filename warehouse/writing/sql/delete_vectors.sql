-- The vectors of temp.removed_vector with their scores, judgements, marked errors and preferences.
DELETE FROM span
WHERE judgement_id IN (
  SELECT judgement_id FROM judgement WHERE vector_id IN (SELECT vector_id FROM temp.removed_vector)
);
DELETE FROM judgement WHERE vector_id IN (SELECT vector_id FROM temp.removed_vector);
DELETE FROM preference
WHERE vector_a IN (SELECT vector_id FROM temp.removed_vector) OR vector_b IN (SELECT vector_id FROM temp.removed_vector);
DELETE FROM score WHERE vector_id IN (SELECT vector_id FROM temp.removed_vector);
DELETE FROM aggregate_score WHERE vector_id IN (SELECT vector_id FROM temp.removed_vector);
DELETE FROM vector WHERE vector_id IN (SELECT vector_id FROM temp.removed_vector);
