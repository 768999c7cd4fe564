"""Files of an export with other rows, whose checksums the manifest has: as somebody hostile would write them."""

from pathlib import Path

import polars as pl

from warehouse.export.exported import EvalsetKey
from warehouse.export.parquet import FileRecord, Partition, partition_file, read_manifest, write_manifest

Place = tuple[str, str]


def rows_of(folder: Path, table: str, place: Place) -> pl.DataFrame:
    """The rows of a table in an evaluation set's file."""
    return pl.read_parquet(partition_file(folder, table, EvalsetKey(0, *place)))


def rewrite(folder: Path, table: str, place: Place, rows: pl.DataFrame, n_rows: int | None = None) -> None:
    """Put rows in the place of a table's. n_rows: their number in the manifest; by default what they are."""
    path = partition_file(folder, table, EvalsetKey(0, *place))
    rows.write_parquet(path)
    manifest = read_manifest(folder)
    one = manifest[place]
    files = {**one.files, table: FileRecord.of(path, rows.height if n_rows is None else n_rows)}
    write_manifest(folder, {**manifest, place: Partition(files, one.batch, one.program)})
