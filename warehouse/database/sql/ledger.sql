-- Where a warehouse notes the migrations that it has seen; before the first of them.
CREATE SCHEMA internal;
CREATE TABLE internal.schema_migration (
  number INTEGER PRIMARY KEY,
  name VARCHAR NOT NULL,
  sha256 VARCHAR NOT NULL,
  applied_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE internal.schema_migration IS 'Migrations that this file has seen. One row per migration.';
COMMENT ON COLUMN internal.schema_migration.number IS 'Number of the migration.';
COMMENT ON COLUMN internal.schema_migration.name IS 'File of the migration.';
COMMENT ON COLUMN internal.schema_migration.sha256 IS 'Checksum of the text that was applied.';
COMMENT ON COLUMN internal.schema_migration.applied_at IS 'When, in UTC.';
