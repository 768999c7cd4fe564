"""Error spans of metrics and of people: what is stored, derived, counted and compared."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from metaeval.kernels.spans import span_precision_recall
from tests.helpers import SYSTEMS, tiny_layout, tiny_warehouse
from warehouse import Warehouse, load
from warehouse.export import export
from warehouse.export.mtme import Errors, RatingTable, write_evalset

N_SEGMENTS = 5
MINOR = {"start": 0, "end": 3, "severity": "minor"}
MAJOR = {"start": 2, "end": 6, "severity": "Major"}


def table(first: Sequence[Errors | None], systems: Sequence[str] = SYSTEMS) -> RatingTable:
    """The errors of the first system; nothing predicted for the others."""
    nothing: list[Errors | None] = [None] * N_SEGMENTS
    return RatingTable({system: list(first) if system == systems[0] else nothing for system in systems})


def with_predictions(folder: Path, name: str, predicted: RatingTable, **layout: object) -> Path:
    root = tiny_layout(folder, **layout)  # type: ignore[arg-type]
    documents = [tuple(line.split("\t")) for line in (root / "documents" / "en-de.docs").read_text().splitlines()]
    write_evalset(root, "en-de", documents=documents, predictions={name: predicted})  # type: ignore[arg-type]
    return root


def test_a_metric_of_spans_alone_has_derived_scores_and_no_annotation_where_it_predicted_nothing(
    tmp_path: Path,
) -> None:
    predicted = table([[MINOR, MAJOR], [], None, [MAJOR, {**MINOR, "severity": "unknown"}], [MINOR]])
    with tiny_warehouse(tmp_path, with_predictions(tmp_path / "in", "Spanner-src", predicted)) as warehouse:
        found = warehouse.rows(
            "SELECT segment, value FROM scores WHERE metric = 'Spanner-src' AND system = $first ORDER BY segment",
            {"first": SYSTEMS[0]},
        )
        assert found == [(1, -6.0), (2, 0.0), (3, None), (4, -5.0), (5, -1.0)]
        looked = warehouse.rows(
            "SELECT system, segment, n_spans FROM annotations WHERE kind = 'metric' ORDER BY segment"
        )
        assert looked == [(SYSTEMS[0], 1, 2), (SYSTEMS[0], 2, 0), (SYSTEMS[0], 4, 2), (SYSTEMS[0], 5, 1)]
        derived = dict(warehouse.rows("SELECT metric, is_derived FROM metrics"))
        assert {metric for metric, is_derived in derived.items() if is_derived} == {"Spanner-src"}
        assert warehouse.rows("SELECT count(*) FROM judgements") == [(0,)]


def test_a_metric_with_scores_keeps_them_beside_its_spans(tmp_path: Path) -> None:
    plain = tiny_layout(tmp_path / "plain")
    path = next(plain.glob("metric-scores/en-de/*.seg.score"))
    scorer = path.name.removesuffix(".seg.score")
    systems = list(dict.fromkeys(line.split("\t")[0] for line in path.read_text().splitlines()))
    predicted = table([[MINOR], [], [], [], []], systems)
    with tiny_warehouse(tmp_path, with_predictions(tmp_path / "in", scorer, predicted)) as warehouse:
        with_spans = warehouse.rows("SELECT * FROM scores ORDER BY ALL")
        assert warehouse.rows("SELECT scorer, span_start, span_end FROM spans") == [(scorer, 0, 3)]
        assert warehouse.rows("SELECT bool_or(is_derived) FROM metrics") == [(False,)]
    (tmp_path / "tiny.duckdb").unlink()
    with tiny_warehouse(tmp_path, plain) as warehouse:
        assert warehouse.rows("SELECT * FROM scores ORDER BY ALL") == with_spans


def test_predictions_come_back_from_the_layout_and_from_parquet(tmp_path: Path) -> None:
    predicted = table([[MINOR, MAJOR], [], None, [], [MINOR]])
    database = tmp_path / "tiny.duckdb"
    asked = (
        "SELECT kind, scorer, system, segment, side, span_start, span_end, severity FROM spans ORDER BY ALL",
        "SELECT kind, scorer, system, segment, n_spans FROM annotations ORDER BY ALL",
        "SELECT metric, is_derived, n_scores FROM metrics ORDER BY ALL",
    )

    def answers(path: Path) -> list[list[tuple[object, ...]]]:
        with Warehouse.open(path) as warehouse:
            return [warehouse.rows(query) for query in asked]

    assert load([with_predictions(tmp_path / "in", "Spanner-src", predicted)], database).is_clean
    for form in ("mtme", "parquet"):
        export(database, tmp_path / form, form)
        again = tmp_path / f"{form}.duckdb"
        assert not load([tmp_path / form], again).faults
        assert answers(again) == answers(database)


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


def test_span_scores_are_those_of_the_kernel(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    sides: list[list[list[dict[str, object]]]] = [[drawn(rng, int(rng.integers(0, 4))) for _ in range(5)] for _ in "ab"]
    gold = RatingTable(
        {
            system: [[{"category": None, "score": 1, **error} for error in errors] for errors in sides[0]]
            if system == SYSTEMS[0]
            else [None] * N_SEGMENTS
            for system in SYSTEMS
        }
    )
    root = with_predictions(tmp_path / "in", "Spanner-src", table(sides[1]), ratings={"marked": gold})
    with tiny_warehouse(tmp_path, root) as warehouse:
        found = warehouse.rows(
            """
            SELECT sum(n_right) / sum(n_predicted), sum(n_gold_found) / sum(n_gold) FROM span_scores
            UNION ALL
            SELECT precision, recall FROM span_scores WHERE segment = 2
            """
        )
    for (precision, recall), chosen in zip(found, (slice(None), slice(1, 2)), strict=True):
        expected = span_precision_recall(sides[1][chosen], sides[0][chosen], "MP", "many_to_many")
        assert (precision, recall) == pytest.approx(expected[:2])


@pytest.mark.parametrize("is_last", [False, True])
def test_ends_that_are_last_characters_are_noted(tmp_path: Path, is_last: bool) -> None:
    """Words of ten letters, each marked whole."""
    errors: list[Errors | None] = [
        [{"start": 11 * at, "end": 11 * at + 10 - is_last, "severity": "minor"} for at in range(4)]
    ] * N_SEGMENTS
    root = with_predictions(tmp_path / "in", "Spanner-src", table(errors))
    for path in root.glob("system-outputs/en-de/*.txt"):
        path.write_text(f"{'abcdefghij ' * 4}\n" * N_SEGMENTS)
    notes = [note for note in load([root], tmp_path / "w.duckdb").notes if "inside a word" in note]
    assert len(notes) == is_last
    assert all("20 of 20 spans end inside a word, and 0 would one character after" in note for note in notes)


def test_spans_that_measures_cut_or_leave_out_are_counted(tmp_path: Path) -> None:
    errors = [{**MINOR, "end": 1000}, {**MINOR, "start": 3}, {**MINOR, "severity": "undecided"}, {**MAJOR, "end": 9}]
    root = with_predictions(tmp_path / "in", "Spanner-src", table([errors, [], [], [], []]))
    report = load([root], tmp_path / "w.duckdb")
    assert report.is_clean
    (note,) = [note for note in report.notes if "marked error" in note]
    assert "of 4 marked errors, 2 end behind the text" in note
    assert "1 empty" in note
    assert "1 of another severity" in note
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        assert warehouse.rows("SELECT count(*) FROM spans") == [(4,)]
