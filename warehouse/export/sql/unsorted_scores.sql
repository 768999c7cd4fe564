-- The first evaluation set with a score that does not follow the one before it, by vector and segment, in its file.
-- One row; NULL where there is none. DuckDB computes lag() without a window's order while it reads.
SELECT min(place)
FROM (
  SELECT
    place,
    vector_id,
    segment,
    lag(place) OVER () AS place_before,
    lag(vector_id) OVER () AS vector_before,
    lag(segment) OVER () AS segment_before
  FROM temp.checked_score
)
WHERE place = place_before AND (vector_id < vector_before OR (vector_id = vector_before AND segment <= segment_before));
