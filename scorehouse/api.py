"""The Python API: `open`, warehouses whose methods are the questions, the questions as functions, and kernels."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

import metaeval
from metaeval.questions import QUESTIONS, RENAMED
from warehouse.database.buckets import located
from warehouse.database.connection import Warehouse as _Opened

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Warehouse", "open", *("kernels", *QUESTIONS)]


class Warehouse(_Opened):
    """An open warehouse that answers questions: `warehouse.rank("wmt23", "en-de")`; use it in a `with` block."""

    def __getattr__(self, name: str) -> "Callable[..., metaeval.Answer]":
        if name not in QUESTIONS and name not in RENAMED:
            raise AttributeError(f"a warehouse has no attribute {name!r}")
        return MethodType(getattr(metaeval, name), self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *QUESTIONS]

    def scores(self, testset: str, lp: str, scorer: str) -> "tuple[list[str], NDArray[np.float64]]":
        """System names (N,) and their segment scores (N, S) by a metric or a human score; NaN where missing.

        Higher is better. Raises QuestionError: unknown names, or a metric with scores for several references.
        """
        from queries.score_arrays import segment_scores

        return segment_scores(self, testset, lp, scorer)

    def sql(
        self, query: str, parameters: Mapping[str, object] | None = None, *, limits: bool = False
    ) -> "pl.DataFrame":
        """Answer of a query as a Polars frame; parameters are `$name` in the text.

        limits: run as `scorehouse sql` does, in a separate process with limits on time and memory, for queries that
        others wrote.
        Raises QuestionError: DuckDB refuses the query. LimitError: it runs out of time or memory.
        """
        if not limits:
            return super().sql(query, parameters)
        from queries.adhoc import answer

        return answer(self.path, query, parameters)


def open(path: str | Path | None = None) -> Warehouse:
    """Open a warehouse for questions: read-only, with any number of other readers.

    path: the file, or a folder of exported Parquet, which may be s3://BUCKET/PREFIX; by default the file in the user's
    data folder. All evaluation sets of a folder are opened; `scorehouse.rank(path, ...)` opens only those it needs.
    Raises SchemaError: see `warehouse.Warehouse.open`. SourceError: see `open_export`.
    """
    if path is None or not (place := located(path)).is_dir():
        return Warehouse.open(path)
    from warehouse.export.opening import open_export

    return open_export(place, kind=Warehouse)


def __getattr__(name: str) -> Any:
    """Questions and kernels are imported when first used."""
    if name == "kernels" or name in QUESTIONS or name in RENAMED:
        return getattr(metaeval, name)
    raise AttributeError(f"module 'scorehouse' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
