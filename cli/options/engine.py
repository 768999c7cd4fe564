"""Options of where segment scores lie, and what counts them."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.exit_codes import UsageError
from cli.options.choices import choice

if TYPE_CHECKING:
    from warehouse import Warehouse

ENGINES = ("polars", "duckdb", "spark")


@dataclass(frozen=True)
class EngineFlags:
    """Where scores are read from, and by which engine."""

    folder: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="DIR",
            help="Read this folder of exported Parquet (`scorehouse export DIR`) instead of the warehouse.",
        ),
    ] = None
    engine: Annotated[
        str | None,
        choice(
            ENGINES,
            "--engine",
            help="Polars' lazy queries, DuckDB's SQL, or Spark (with --from); the results are the same.",
            show_default="polars; counts of a warehouse: numpy",
        ),
    ] = None

    @contextlib.contextmanager
    def data(self, database: Path) -> "Iterator[Warehouse | Path]":
        """The folder of the export if one is given, else the open warehouse.

        Raises UsageError: Spark without an export.
        """
        if self.folder is not None:
            yield self.folder
            return
        if self.engine == "spark":
            raise UsageError(
                "--engine spark reads exported Parquet: `scorehouse export DIR`, then --from DIR; "
                "or --engine polars or duckdb"
            )
        from warehouse import Warehouse

        with Warehouse.open(database) as warehouse:
            yield warehouse
