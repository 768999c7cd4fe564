"""The database file: its connection, its migrations, frames in and out, stored results, and the staging tables."""
