-- What a database defines, macros and triggers apart, as found without any function that it could define itself.
-- Params: $database. One row per object; an index stands under the name of its table.
SELECT 'table' AS kind, schema_name AS schema, table_name AS name, sql AS text
FROM system.main.duckdb_tables() WHERE database_name = $database
UNION ALL
SELECT 'view', schema_name, view_name, sql FROM system.main.duckdb_views() WHERE database_name = $database
UNION ALL
SELECT 'index', schema_name, table_name, sql FROM system.main.duckdb_indexes() WHERE database_name = $database
UNION ALL
SELECT 'sequence', schema_name, sequence_name, NULL FROM system.main.duckdb_sequences() WHERE database_name = $database
UNION ALL
SELECT 'type', schema_name, type_name, NULL FROM system.main.duckdb_types()
WHERE database_name = $database AND NOT internal
UNION ALL
SELECT 'schema', schema_name, schema_name, NULL FROM system.main.duckdb_schemas() WHERE database_name = $database
