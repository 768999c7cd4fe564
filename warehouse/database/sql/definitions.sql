-- Everything that the current database defines; columns of views are not asked for, since DuckDB would bind the views.
SELECT 'schema' AS kind, schema_name AS name, '' AS definition
FROM duckdb_schemas()
WHERE database_name = current_database() AND NOT internal
UNION ALL
SELECT 'table', schema_name || '.' || table_name, sql
FROM duckdb_tables()
WHERE database_name = current_database() AND NOT internal
UNION ALL
SELECT 'view', schema_name || '.' || view_name, sql
FROM duckdb_views()
WHERE database_name = current_database() AND NOT internal
UNION ALL
SELECT function_type, schema_name || '.' || function_name, array_to_string(parameters, ' ') || ' : ' || macro_definition
FROM duckdb_functions()
WHERE database_name = current_database() AND NOT internal
UNION ALL
SELECT 'index', schema_name || '.' || index_name, sql
FROM duckdb_indexes()
WHERE database_name = current_database()
UNION ALL
SELECT 'sequence', schema_name || '.' || sequence_name, sql
FROM duckdb_sequences()
WHERE database_name = current_database()
UNION ALL
SELECT 'type', schema_name || '.' || type_name, logical_type
FROM duckdb_types()
WHERE database_name = current_database() AND NOT internal
ORDER BY ALL
