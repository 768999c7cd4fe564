"""A tiny shared task for tests: small enough to work out by hand, written and loaded as a real one would be."""

import functools
import inspect
import itertools
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from _pytest.mark.structures import ParameterSet

from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.run import Run
from metaeval.results.study import check_ranked, ranking, study
from queries.slices import Slice
from tests.sharing import written
from warehouse import Warehouse, load
from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset, write_facts
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts

TESTSET = "tiny24"
LP = "en-de"
DOCUMENTS = (("news", "n1"), ("news", "n1"), ("news", "n2"), ("speech", "s1"), ("speech", "s1"))
SYSTEMS = ("Ash", "Beech", "Cherry", "refA")
NAN = float("nan")

MQM = (
    (-1.0, 0.0, -5.0, NAN, -1.0),  # Ash
    (-1.0, -5.0, -6.0, NAN, 0.0),  # Beech
    (-10.0, -5.0, -11.0, NAN, -25.0),  # Cherry
    (0.0, 0.0, -1.0, NAN, NAN),  # refA
)
"""Human scores (systems, segments): with ties, a segment that nobody judged, and a single cell that is missing."""

_METRICS = {
    "Fine-src": ((0.9, 0.95, 0.5, 0.7, 0.9), (0.9, 0.5, 0.4, 0.6, 0.95), (0.2, 0.5, 0.1, 0.3, 0.0), (1, 1, 0.8, 1, 1)),
    "Rough-refA": ((50, 60, 20, 40, 30), (40, 60, 30, 50, 30), (10, 60, 20, 20, 20)),
    "Wrong-src": ((1, 0, 5, 2, 1), (1, 5, 6, 2, 0), (10, 5, 11, 2, 25), (0, 0, 1, 2, 0)),
    "Flat-src": ((1, 1, 1, 1, 1),) * 4,
}


def mqm_table() -> ScoreTable:
    """The human score, with its submitted system scores: the means over the judged segments."""
    seg = np.array(MQM)
    return ScoreTable(systems=SYSTEMS, seg=seg, sys=np.nanmean(seg, axis=1))


def metric_tables() -> dict[str, ScoreTable]:
    """Metrics by full name: nearly the human order, one with a reference, the human order reversed, and a constant.

    A metric with a reference leaves the reference itself out; `Only-src` has system scores alone.
    """
    tables = {}
    for name, values in _METRICS.items():
        seg = np.array(values, dtype=float)
        tables[name] = ScoreTable(systems=SYSTEMS[: len(seg)], seg=seg, sys=seg.mean(axis=1))
    tables["Only-src"] = ScoreTable(systems=SYSTEMS, sys=np.array([0.7, 0.6, 0.2, 0.9]))
    return tables


def tiny_layout(
    folder: Path,
    *,
    testset: str = TESTSET,
    lp: str = LP,
    documents: Sequence[tuple[str, str]] = DOCUMENTS,
    systems: Sequence[str] = SYSTEMS,
    humans: Mapping[str, ScoreTable] | None = None,
    metrics: Mapping[str, ScoreTable] | None = None,
    ratings: Mapping[str, RatingTable] | None = None,
    texts: bool = True,
    facts: bool = True,
) -> Path:
    """Write an evaluation set below folder/testset in the organisers' layout; the test set's folder.

    humans, metrics: by default `mqm_table()` and `metric_tables()`; other documents or systems need their own.
    texts: write sources, the reference refA and a text for each system that is no reference.
    facts: write testset.toml: year 2024, standard reference refA and human score mqm, primary metrics Fine and
        Rough, baseline Flat.
    """
    root = folder / testset
    lines = {system: [f"{system} {number}" for number in range(1, len(documents) + 1)] for system in systems}
    references = {name: text for name, text in lines.items() if name.startswith("ref")}
    write_evalset(
        root,
        lp,
        documents=documents,
        sources=[f"source {number}" for number in range(1, len(documents) + 1)] if texts else None,
        references=references if texts else None,
        outputs={name: text for name, text in lines.items() if name not in references} if texts else None,
        humans={"mqm": mqm_table()} if humans is None else humans,
        metrics=metric_tables() if metrics is None else metrics,
        ratings=ratings,
    )
    if facts:
        write_facts(root, tiny_facts(testset, lp))
    return root


def tiny_facts(testset: str = TESTSET, lp: str = LP) -> TestsetFacts:
    """What `tiny_layout` declares."""
    standard = EvalsetFacts(standard_reference="refA", standard_human={"seg": "mqm", "sys": "mqm"})
    return TestsetFacts(
        testset, 2024, "A tiny task", frozenset({"Fine", "Rough", "Flat"}), frozenset({"Flat"}), {lp: standard}
    )


@functools.cache
def tiny_bytes() -> bytes:
    """The file of a warehouse that has loaded a fresh `tiny_layout`, made once in a process."""
    with TemporaryDirectory() as folder:
        database = Path(folder, "tiny.duckdb")
        report = load([tiny_layout(Path(folder, "layout"))], database)
        assert report.is_clean, report.faults
        return database.read_bytes()


def tiny_warehouse(tmp_path: Path, *folders: Path) -> Warehouse:
    """Load some folders (by default a fresh `tiny_layout`) into tmp_path/tiny.duckdb, and open it.

    Close it, or use it in a `with` block; its file is `.path`.
    """
    database = tmp_path / "tiny.duckdb"
    if folders:
        report = load(folders, database)
        assert not report.faults, report.faults
    else:
        tiny_layout(tmp_path / "layout")
        written(database, tiny_bytes())
    return Warehouse.open(database)


def with_views_of_before(database: Path) -> None:
    """Make of a warehouse one of a program whose views were others: `testsets` has one column, there is no `trends`."""
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE OR REPLACE VIEW testsets AS SELECT 'of before' AS testset; DROP VIEW trends")
        connection.execute("UPDATE internal.schema_migration SET sha256 = 'x' WHERE name = 'views'")


def sampled(n: int, why: str, *axes: Iterable[object]) -> list[ParameterSet]:
    """What the axes make together, for `parametrize`: in each run every n-th, all with `--all`.

    Axes are traversed diagonally, so that the values of each are combined with different values of the others.
    """
    found = []
    for case in itertools.product(*(enumerate(axis) for axis in axes)):
        is_taken = sum(place for place, _ in case) % n == 0
        found.append(pytest.param(*(value for _, value in case), marks=() if is_taken else pytest.mark.long(why)))
    return found


def but_slow(slow: Collection[object], names: Iterable[object]) -> list[ParameterSet]:
    """The names as cases for `parametrize`; those of slow ones run with `--slow`."""
    return [pytest.param(name, marks=pytest.mark.slow if name in slow else ()) for name in names]


def data_folder() -> Path:
    """The folder of the shared tasks' real files, if it is there."""
    default = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
    return Path(os.environ.get("SCOREHOUSE_TEST_DATA") or default).resolve()


def real_data(*parts: str) -> Path:
    """A folder of the shared tasks' real files; the test is skipped if they are not there."""
    path = data_folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no real data at {path}; SCOREHOUSE_TEST_DATA names their folder")
    return path


def beside_data(*parts: str) -> Path:
    """A file next to the real data, such as expected/wmt23.en-de.csv; the test is skipped if it is not there."""
    path = real_data().parent.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no {path}")
    return path


def refused(message: str, function: Callable[..., object], *args: Any, **options: Any) -> None:
    """Assert that a call with these arguments raises a ValueError whose message contains this."""
    with pytest.raises(ValueError, match=message):
        function(*args, **options)


def rank(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    measures: Sequence[str | Measure],
    *,
    options: Options | None = None,
    **slice_options: Any,
) -> pl.DataFrame:
    """Metrics of an evaluation set ranked by measures. slice_options: fields of `queries.selection.Slice`."""
    parsed = [parse_measure(measure) if isinstance(measure, str) else measure for measure in measures]
    found = study(warehouse, Slice(testset, lp, **slice_options), parsed, options or Options())
    check_ranked([found])
    return ranking(found)


def reading(warehouse: Warehouse) -> Run:
    """A run that reads an open warehouse and stores nothing."""
    return Run(lambda: nullcontext(warehouse))


def together(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `parametrize`, but one test of all cases, which names those that fail: a test costs 8 ms."""
    given, rows = [names] if isinstance(names, str) else list(names), list(cases)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def every(**fixtures: Any) -> None:
            faults = []
            for row in rows:
                values = dict(zip(given, [row] if isinstance(names, str) else row, strict=True))
                try:
                    test(**fixtures, **values)
                except (Exception, pytest.fail.Exception) as error:
                    faults.append(f"{values}: {type(error).__name__}: {error}")
            assert not faults, "\n".join(faults)
            assert rows

        signature = inspect.signature(test)
        own = [one for name, one in signature.parameters.items() if name not in given]
        every.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        return every

    return decorate
