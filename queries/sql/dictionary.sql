-- Every public view and macro and every table of the warehouse, with what it and its columns mean.
-- A comment ends after 4,000 characters: those of a stranger's file may have any length.
-- Params: $thing (of one of them, without a macro's parameters; NULL for all).
-- One row per view, macro and table (column is NULL), and one per column: views first, then macros, then tables.
WITH thing AS (
  SELECT 'view' AS kind, view_name AS plain_name, view_name AS name, schema_name, comment, 1 AS rank
  FROM duckdb_views()
  WHERE NOT internal AND schema_name = 'main'
  UNION ALL
  SELECT
    'macro',
    function_name,
    function_name || '(' || array_to_string(parameters, ', ') || ')',
    schema_name,
    comment,
    2
  FROM duckdb_functions()
  WHERE NOT internal AND schema_name = 'main' AND function_type IN ('macro', 'table_macro')
  UNION ALL
  SELECT 'table', table_name, schema_name || '.' || table_name, schema_name, comment, 3
  FROM duckdb_tables()
  WHERE NOT internal
),
line AS (
  SELECT t.rank, t.kind, t.name, 0 AS place, NULL AS column_name, NULL AS data_type, t.comment, t.plain_name
  FROM thing AS t
  UNION ALL
  SELECT t.rank, t.kind, t.name, m.column_index, m.column_name, m.data_type, m.comment, t.plain_name
  FROM thing AS t
  JOIN duckdb_columns() AS m ON m.table_name = t.plain_name AND m.schema_name = t.schema_name AND t.kind <> 'macro'
)
SELECT kind, name, column_name AS "column", data_type AS type, left(comment, 4000) AS meaning
FROM line
WHERE $thing IS NULL OR plain_name = $thing OR name = $thing
ORDER BY rank, name, place;
