"""Many small evaluation sets: a question about more of them asks no more of the warehouse."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import metaeval
from warehouse import Warehouse
from warehouse.database import connection
from warehouse.loading.entry import load

QUESTIONS = (
    ("rank", {"measures": ("pa", "acc_eq(by=item)")}),
    ("counts", {}),
    ("thresholds", {}),
    ("trend", {"resamples": 10}),
)


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Three and eight simulated evaluation sets of seven systems and four segments."""
    return tuple(_warehouse(tmp_path_factory.mktemp("many"), n_sets) for n_sets in (3, 8))  # type: ignore[return-value]


def _warehouse(folder: Path, n_sets: int) -> Path:
    rng = np.random.default_rng(0)
    rows = pl.DataFrame(
        [
            (f"many{number}", "en-de", kind, scorer, f"system-{system}", segment, float(rng.integers(9)))
            for number in range(n_sets)
            for kind, scorer in (("human", "mqm"), ("metric", "Fine"), ("metric", "BLEU"))
            for system in range(7)
            for segment in range(1, 5)
        ],
        ("testset", "lp", "kind", "scorer", "system", "segment", "value"),
        orient="row",
    )
    rows.write_parquet(folder / "scores.parquet")
    report = load([folder / "scores.parquet"], folder / "many.duckdb")
    assert len(report.evalsets) == n_sets
    return folder / "many.duckdb"


@pytest.mark.parametrize(("name", "options"), QUESTIONS)
def test_more_evaluation_sets_ask_no_more_of_the_warehouse(
    name: str, options: dict[str, Any], warehouses: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def counted(where: Any, what: str) -> None:
        original = getattr(where, what)

        def call(*args: Any, **kwargs: Any) -> Any:
            calls.append(what)
            return original(*args, **kwargs)

        monkeypatch.setattr(where, what, call)

    for what in ("rows", "columns", "sql"):
        counted(Warehouse, what)
    counted(connection, "current")
    n_calls = []
    for path in warehouses:
        calls.clear()
        answer = getattr(metaeval, name)(path, "all", "all", **options)
        assert not answer.frame.is_empty()
        n_calls.append(sorted(calls))
    assert n_calls[0] == n_calls[1]
