-- The first evaluation set with rows that do not follow each other in their file, or are the same, by what sorts them.
-- {table} and {order}: see `TABLES`. One row; NULL where there is none. The window has no order: DuckDB computes it
-- while it reads.
SELECT min(place)
FROM (
  SELECT place, row({order}) AS key, lag(place) OVER () AS place_before, lag(row({order})) OVER () AS key_before
  FROM temp.checked_{table} AS x
)
WHERE place = place_before AND key <= key_before;
