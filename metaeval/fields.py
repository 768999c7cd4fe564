"""Fields that several questions share, beside the slice and how it is computed and tested."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from metaeval.options import Run
from warehouse.fields import Fields, Option

if TYPE_CHECKING:
    from warehouse import Warehouse

DEFAULT_MEASURES = ("spa", "acc_eq(by=item)")  # the organisers' since 2024

Measures = Annotated[
    tuple[str, ...], Option("Measure, such as spa or acc_eq(by=item); repeatable.", ("measure", "m"), names="measure")
]

_BY_ARRAYS = dict.fromkeys(("intersection", "mad_outliers"), "engines read no arrays of scores")


@dataclass(frozen=True, kw_only=True)
class EngineFields(Fields):
    """Where scores are read from, and by which engine."""

    folder: Annotated[
        Path | None,
        Option(
            "Read this folder of exported Parquet (`scorehouse export DIR`) instead of the warehouse.",
            ("from",),
            metavar="DIR",
            excludes=_BY_ARRAYS,
        ),
    ] = None
    engine: Annotated[
        Literal["polars", "duckdb", "spark"] | None,
        Option(
            "Polars' lazy queries, DuckDB's SQL, or Spark (with an export); the results are the same.",
            default="polars; counts of a warehouse: numpy",
            excludes=_BY_ARRAYS,
            is_computing=True,
        ),
    ] = None

    @contextmanager
    def data(self, run: Run) -> "Iterator[Warehouse | Path]":
        """The folder of the export if one is given, else the open warehouse."""
        if self.folder is not None:
            yield self.folder
            return
        with run.opened() as warehouse:
            yield warehouse


def requires(fields: Iterable[str], *needed: str, **others: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """For `Fields.needs`: all these fields need one of those; others: what further fields need."""
    return dict.fromkeys(fields, needed) | others
