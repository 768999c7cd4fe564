-- Statements that give columns of commented views in the current database their common meaning; NULL for none.
SELECT
  string_agg(
    format(
      'COMMENT ON COLUMN main."{}".{} IS ''{}''',
      replace(m.table_name, '"', '""'), m.column_name, internal.common_meaning(m.column_name)
    ),
    ';'
  )
FROM duckdb_columns() AS m
JOIN duckdb_views() AS v ON v.view_oid = m.table_oid AND v.database_name = m.database_name
WHERE m.database_name = current_database() AND m.schema_name = 'main' AND m.comment IS NULL AND v.comment IS NOT NULL
  AND internal.common_meaning(m.column_name) IS NOT NULL;
