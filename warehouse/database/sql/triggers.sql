-- Triggers of a database, from DuckDB 2.0 on. Params: $database. One row per trigger, under the name of its table.
SELECT schema_name AS schema, table_name AS name FROM system.main.duckdb_triggers() WHERE database_name = $database
