"""Views of a whole warehouse as Parquet, one file per view: for programs that cannot read DuckDB."""

from pathlib import Path

from warehouse.database.connection import Warehouse
from warehouse.export.exported import copy, replacing_file

VIEWS = (
    *("testsets", "evalsets", "metrics", "humans", "systems", "segments", "scores", "human_scores", "system_scores"),
    *("aggregate_scores", "judgements", "preferences", "spans", "known_issues", "texts"),
)


def export_views(database: Path, folder: Path) -> dict[str, int]:
    """Write VIEW.parquet for each view that has rows; returns the number of rows by view.

    Raises SchemaError: see `Warehouse.open`. OSError: the folder can't be written.
    """
    counts = {}
    with Warehouse.open(database, writes_below=folder) as warehouse:
        for view in VIEWS:
            path = folder / f"{view}.parquet"
            with replacing_file(path) as fresh:
                n_rows = copy(warehouse, f"SELECT * FROM {view}", fresh, "FORMAT parquet, COMPRESSION zstd")
            if n_rows:
                counts[view] = n_rows
            else:
                path.unlink()
    return counts
