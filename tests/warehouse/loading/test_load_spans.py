"""Error spans of metrics and of people: what is stored, derived, counted and compared."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from metaeval.kernels.spans import span_precision_recall
from tests.helpers import DOCUMENTS, LP, SYSTEMS, tiny_layout
from tests.warehouse.building import Loaded, ask, by_cell, cells_of
from warehouse import load
from warehouse.export import export
from warehouse.export.mtme import Errors, RatingTable, ScoreTable, write_evalset

N_SEGMENTS = len(DOCUMENTS)
MINOR = {"start": 0, "end": 3, "severity": "minor"}
MAJOR = {"start": 2, "end": 6, "severity": "Major"}
SCORES = ScoreTable(SYSTEMS, seg=np.arange(20.0).reshape(4, 5))


def table(first: Sequence[Errors | None]) -> RatingTable:
    """The errors of the first system; nothing for the others."""
    return RatingTable({system: list(first) if system == "Ash" else [None] * N_SEGMENTS for system in SYSTEMS})


def drawn(rng: np.random.Generator, n: int) -> list[dict[str, object]]:
    starts = rng.integers(0, 12, n)
    return [
        {
            "start": int(start),
            "end": int(start + rng.integers(0, 6)),
            "severity": ["minor", "major", "odd"][rng.choice(3)],
        }
        for start in starts
    ]


def words(is_last: bool) -> RatingTable:
    """Words of ten letters, each marked whole. is_last: by its last character."""
    errors = [{"start": 11 * at, "end": 11 * at + 10 - is_last, "severity": "minor"} for at in range(4)]
    return table([errors] * N_SEGMENTS)


_RNG = np.random.default_rng(3)
GOLD, PREDICTED = ([drawn(_RNG, int(_RNG.integers(0, 4))) for _ in range(N_SEGMENTS)] for _ in "ab")
MARKED = table([[{"category": None, "score": 1, **error} for error in errors] for errors in GOLD])


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """Test sets in which a metric predicted spans, with its scores beside them in one; read it only."""
    folder = tmp_path_factory.mktemp("spans")
    for testset, predicted, scores, ratings in (
        ("alone", table([[MINOR, MAJOR], [], None, [MAJOR, {**MINOR, "severity": "unknown"}], [MINOR]]), {}, None),
        ("beside", table([[MINOR], [], [], [], []]), {"Spanner-src": SCORES}, None),
        ("gold", table(PREDICTED), {}, {"marked": MARKED}),
        ("behind", words(False), {}, None),
        ("last", words(True), {}, None),
    ):
        root = tiny_layout(folder / "in", testset=testset, humans={}, metrics=scores, ratings=ratings, facts=False)
        write_evalset(root, LP, documents=DOCUMENTS, predictions={"Spanner-src": predicted})
        if testset in ("behind", "last"):
            for path in root.glob("system-outputs/en-de/*.txt"):
                path.write_text(f"{'abcdefghij ' * 4}\n" * N_SEGMENTS)
    report = load([folder / "in"], folder / "w.duckdb")
    assert report.is_clean, report.faults
    return Loaded(folder / "in", folder / "w.duckdb", report)


@pytest.mark.slow
def test_a_metric_of_spans_alone_has_derived_scores_and_no_annotation_where_it_predicted_nothing(
    loaded: Loaded,
) -> None:
    query = "SELECT segment, value FROM scores WHERE testset = 'alone' AND system = 'Ash' ORDER BY segment"
    assert ask(loaded.database, query) == [(1, -6.0), (2, 0.0), (3, None), (4, -5.0), (5, -1.0)]
    query = "SELECT system, segment, n_spans FROM annotations WHERE testset = 'alone' ORDER BY segment"
    assert ask(loaded.database, query) == [("Ash", 1, 2), ("Ash", 2, 0), ("Ash", 4, 2), ("Ash", 5, 1)]
    assert ask(loaded.database, "SELECT testset FROM metrics WHERE NOT is_derived") == [("beside",)]
    assert ask(loaded.database, "SELECT DISTINCT testset FROM judgements") == [("gold",)]


def test_a_metric_with_scores_keeps_them_beside_its_spans(loaded: Loaded) -> None:
    found = ask(loaded.database, "SELECT system, segment, value FROM scores WHERE testset = 'beside'")
    assert by_cell(found) == cells_of(SYSTEMS, SCORES.seg)
    query = "SELECT scorer, span_start, span_end FROM spans WHERE testset = 'beside'"
    assert ask(loaded.database, query) == [("Spanner-src", 0, 3)]


@pytest.mark.slow
def test_predictions_come_back_from_the_layout_and_from_parquet(loaded: Loaded, tmp_path: Path) -> None:
    asked = (
        "SELECT scorer, system, segment, side, span_start, span_end, severity FROM spans WHERE testset = 'alone'",
        "SELECT kind, scorer, system, segment, n_spans FROM annotations WHERE testset = 'alone'",
        "SELECT metric, is_derived, n_scores FROM metrics WHERE testset = 'alone'",
    )
    for form in ("mtme", "parquet"):
        export(loaded.database, tmp_path / form, form, "alone", LP)
        again = tmp_path / f"{form}.duckdb"
        assert not load([tmp_path / form], again).faults
        for query in asked:
            assert ask(again, f"{query} ORDER BY ALL") == ask(loaded.database, f"{query} ORDER BY ALL") != []


def test_span_scores_are_those_of_the_kernel(loaded: Loaded) -> None:
    query = """
        SELECT sum(n_right) / sum(n_predicted), sum(n_gold_found) / sum(n_gold) FROM span_scores WHERE testset = 'gold'
        UNION ALL
        SELECT precision, recall FROM span_scores WHERE testset = 'gold' AND segment = 2
        """
    for found, chosen in zip(ask(loaded.database, query), (slice(None), slice(1, 2)), strict=True):
        expected = span_precision_recall(PREDICTED[chosen], GOLD[chosen], "MP", "many_to_many")
        assert found == pytest.approx(expected[:2])


def test_ends_that_are_last_characters_are_noted(loaded: Loaded) -> None:
    (note,) = [note for note in loaded.report.notes if "inside a word" in note]
    assert note.startswith("last en-de: ")
    assert "20 of 20 spans end inside a word, but only 0 would if they ended one character later" in note
