-- Macros of a database, found as `objects` finds the rest. Params: $database. One row per macro and list of parameters.
SELECT function_type AS kind, schema_name AS schema, function_name AS name, parameters, macro_definition
FROM system.main.duckdb_functions() WHERE database_name = $database
