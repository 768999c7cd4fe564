"""Whatever the writer can write, the loader reads back."""

import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.warehouse.building import empty_warehouse, loaded
from warehouse import Warehouse, load
from warehouse.export.mtme import Errors, RatingTable, ScoreTable, write_evalset

PLAUSIBLE = 9.9e99
CELLS = st.floats(-PLAUSIBLE, PLAUSIBLE) | st.just(math.nan)
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=6)
NAMES = WORDS.filter(lambda name: name != "None")  # a word that files keep for missing scores
FILES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 +_\[\]*?'()-]{0,5}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=8)
ERRORS = st.lists(
    st.fixed_dictionaries(
        {"score": st.sampled_from([0.1, 1, 5, 25])},
        optional={"category": TEXTS, "severity": TEXTS, "start": st.integers(0, 9), "end": st.integers(0, 9)},
    ),
    max_size=2,
)


def _documents(sizes: list[tuple[int, int]]) -> list[tuple[str, str]]:
    return [(f"domain {domain}", f"doc {n}") for n, (size, domain) in enumerate(sizes) for _ in range(size)]


DOCUMENTS = st.lists(st.tuples(st.integers(1, 2), st.integers(0, 1)), min_size=1, max_size=3).map(_documents)


@st.composite
def tables(draw: Callable[[st.SearchStrategy], object], systems: list[str], documents: list[tuple[str, str]]):  # type: ignore[no-untyped-def, type-arg]
    """A scorer's table: some of the systems in any order, any of the levels."""
    chosen = draw(st.lists(st.sampled_from(systems), min_size=1, unique=True))

    def values(*shape: int) -> np.ndarray:
        n = math.prod(shape)
        return np.array(draw(st.lists(CELLS, min_size=n, max_size=n))).reshape(shape)

    n = len(chosen)
    domains = draw(st.lists(st.sampled_from(sorted({domain for domain, _ in documents})), unique=True))
    return ScoreTable(
        systems=chosen,
        seg=values(n, len(documents)) if draw(st.booleans()) else None,
        sys=values(n) if draw(st.booleans()) else None,
        doc=values(n, len(dict.fromkeys(documents))) if draw(st.booleans()) else None,
        domain={domain: values(n) for domain in domains},
    )


def _has_any(table: dict[str, list[object]]) -> bool:
    """Whether any output was rated: a file that rates none is refused."""
    return any(cell is not None for cells in table.values() for cell in cells)


@st.composite
def evalsets(draw):  # type: ignore[no-untyped-def]
    """Arguments of the writer."""
    documents = draw(DOCUMENTS)
    systems = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    n = len(documents)
    lines = st.lists(TEXTS, min_size=n, max_size=n)
    marks = st.lists(st.none() | ERRORS, min_size=n, max_size=n)
    rated = st.fixed_dictionaries(dict.fromkeys(systems, marks)).filter(_has_any)
    tables_of = tables(systems, documents)
    bases = st.lists(FILES, max_size=2, unique_by=str.lower)
    return {
        "documents": documents,
        "sources": draw(st.none() | lines),
        "humans": {name: draw(tables_of) for name in draw(bases)},
        "metrics": {f"{name}-{draw(st.sampled_from(['src', 'refA']))}": draw(tables_of) for name in draw(bases)},
        "ratings": {"marked up": RatingTable(draw(rated))} if draw(st.booleans()) else {},
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value + 0.0


def _expected_scores(tables: dict[str, ScoreTable]) -> set[tuple[object, ...]]:
    return {
        (name, system, segment, _number(value))
        for name, table in tables.items()
        if table.seg is not None
        for system, row in zip(table.systems, table.seg.tolist(), strict=True)
        for segment, value in enumerate(row, start=1)
    }


def _expected_aggregates(kind: str, tables: dict[str, ScoreTable], documents: list[tuple[str, str]]) -> set[object]:
    names = list(dict.fromkeys(document for _, document in documents))
    found: set[object] = set()
    for name, table in tables.items():
        for n, system in enumerate(table.systems):
            if table.sys is not None:
                found.add((kind, name, system, "sys", None, _number(table.sys[n].item())))
            if table.doc is not None:
                found |= {
                    (kind, name, system, "doc", unit, _number(value))
                    for unit, value in zip(names, table.doc[n].tolist(), strict=True)
                }
            found |= {
                (kind, name, system, "domain", unit, _number(values[n].item())) for unit, values in table.domain.items()
            }
    return found


def _expected_judgements(ratings: dict[str, RatingTable]) -> set[tuple[object, ...]]:
    def judged(errors: Errors) -> float:
        return -sum(float(error["score"]) for error in errors) + 0.0

    return {
        (name, system, segment, judged(errors), len(errors))
        for name, table in ratings.items()
        for system, row in table.errors.items()
        for segment, errors in enumerate(row, start=1)
        if errors is not None
    }


@pytest.mark.slow
@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(several=st.lists(evalsets(), min_size=2, max_size=2))
def test_any_evaluation_set_reads_back_as_it_was_written(
    several: list[dict], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for number, written in enumerate(several):
        write_evalset(folder / "in" / f"t{number}", "en-de", **written)
    report = load([folder / "in"], empty_warehouse(folder / "a.duckdb"))
    assert ([evalset.status for evalset in report.evalsets], report.faults) == (["loaded"] * 2, [])
    assert [note for note in report.notes if "of another severity than" not in note] == []
    with Warehouse.open(folder / "a.duckdb") as warehouse:
        for number, written in enumerate(several):
            _assert_read_back(written, warehouse, f"t{number}")


def _assert_read_back(written: dict, warehouse: Warehouse, testset: str) -> None:
    def rows(columns: str, view: str, rest: str = "") -> list[tuple[object, ...]]:
        query = f"SELECT {columns} FROM {view} WHERE testset = $testset {rest}"
        return warehouse.rows(query, {"testset": testset})

    metrics, humans, ratings = written["metrics"], written["humans"], written["ratings"]
    assert rows("domain, document", "segments", "ORDER BY segment") == written["documents"]
    assert rows("text", "texts", "ORDER BY segment") == [(text,) for text in written["sources"] or ()]
    found = rows("metric, system, segment, value", "scores")
    assert (set(found), len(found)) == (_expected_scores(metrics), len(_expected_scores(metrics)))
    found = rows("human, system, segment, value", "human_scores", "AND human <> 'marked up'")
    assert (set(found), len(found)) == (_expected_scores(humans), len(_expected_scores(humans)))
    found = rows("kind, scorer, system, level, unit, value", "aggregate_scores")
    documents = written["documents"]
    expected = _expected_aggregates("metric", metrics, documents) | _expected_aggregates("human", humans, documents)
    assert (set(found), len(found)) == (expected, len(expected))
    found = rows("human, system, segment, value, n_errors", "judgements")
    assert (set(found), len(found)) == (_expected_judgements(ratings), len(_expected_judgements(ratings)))


def _decimal(rng: random.Random) -> str:
    """A decimal number in any of its forms, not too large for a score."""

    def digits(least: int, most: int) -> str:
        return "".join(rng.choices("0123456789", k=rng.randint(least, most)))

    while True:
        number = rng.choice((digits(1, 20), f"{digits(1, 20)}.{digits(0, 25)}", f".{digits(1, 25)}"))
        exponent = rng.choice(("", f"{rng.choice('eE')}{rng.choice(('', '+', '-'))}{digits(1, 3)}"))
        text = f"{rng.choice(('', '+', '-'))}{number}{exponent}"
        if abs(float(text)) <= PLAUSIBLE:
            return text


def test_any_decimal_number_reads_as_the_nearest_double(tmp_path: Path) -> None:
    rng = random.Random(17)
    texts = [_decimal(rng) for _ in range(500)]
    assert len({text.lower().count("e") for text in texts}) == 2
    file = tmp_path / "in" / "t24" / "metric-scores" / "en-de" / "N-src.sys.score"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"S{n}\t{text}\n" for n, text in enumerate(texts)))
    with Warehouse.open(loaded(tmp_path / "in", tmp_path / "a.duckdb")) as warehouse:
        found = dict(warehouse.rows("SELECT system, value FROM aggregate_scores"))
    assert found == {f"S{n}": float(text) + 0.0 for n, text in enumerate(texts)}
