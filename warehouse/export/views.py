"""Views of a whole warehouse as Parquet, one file per view: for programs that cannot read DuckDB."""

from pathlib import Path

from warehouse.database.connection import Warehouse
from warehouse.export.exported import PARQUET, copy_each

VIEWS = (
    *("testsets", "evalsets", "metrics", "humans", "systems", "segments", "scores", "human_scores", "system_scores"),
    *("aggregate_scores", "judgements", "preferences", "spans", "known_issues", "texts"),
)


def export_views(database: Path, folder: Path) -> dict[str, int]:
    """Write VIEW.parquet for each view that has rows; returns the number of rows by view.

    Raises SchemaError: see `Warehouse.open`. OSError: the folder can't be written.
    """
    queries = {folder / f"{view}.parquet": f"SELECT * FROM {view}" for view in VIEWS}
    with Warehouse.open(database, writes_below=folder) as warehouse:
        return {path.stem: n_rows for path, n_rows in copy_each(warehouse, queries, PARQUET).items()}
