"""Relational queries on the warehouse, as SQL files and Polars lazy frames, and the only conversion to arrays."""
