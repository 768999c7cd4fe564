"""`spans`: what metrics predict against what people marked, in groups, by severity, and where they differ most."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import metaeval
from tests.metaeval.span_outputs import Outputs, span, warehouse_of
from warehouse import QuestionError, Warehouse, load
from warehouse.readers.claims import LoadHints

GOLD: Outputs = {
    ("A", 1): [span(0, 10), span(20, 30, "major")],
    ("A", 2): [],
    ("B", 1): [span(0, 4, "major")],
    ("B", 2): [span(5, 9)],
}
MINE: Outputs = {
    ("A", 1): [span(0, 10, "major"), span(50, 60)],
    ("A", 2): [span(3, 5)],
    ("B", 1): [span(0, 4, "major")],
    ("B", 2): None,
}


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with warehouse_of(tmp_path_factory.mktemp("spans"), GOLD, {"Mine-src": MINE}) as warehouse:
        yield warehouse


def test_outputs_without_a_prediction_are_counted_out(marked: Warehouse) -> None:
    """Two of four predicted spans are right, of three marked; the fourth output has no prediction."""
    (row,) = metaeval.spans(marked, "t24", "en-de").frame.rows(named=True)
    assert (row["precision"], row["recall"]) == pytest.approx((2 / 4, 2 / 3))
    assert row["f"] == pytest.approx(4 / 7)
    assert (row["predicted"], row["marked"], row["n_outputs"]) == (pytest.approx(4 / 3), pytest.approx(1.0), 3)


def test_groups(marked: Warehouse) -> None:
    by_system = metaeval.spans(marked, "t24", "en-de", by="system").frame
    assert by_system.select("system", "precision", "recall", "n_outputs").rows() == [
        ("A", pytest.approx(1 / 3), 0.5, 2),
        ("B", 1.0, 1.0, 1),
    ]
    by_severity = metaeval.spans(marked, "t24", "en-de", by="severity").frame
    assert by_severity.select("severity", "precision", "recall").rows() == [("minor", 0.0, 0.0), ("major", 0.5, 0.5)]
    (whole,) = metaeval.spans(marked, "t24", "en-de").frame.rows()
    (by_domain,) = metaeval.spans(marked, "t24", "en-de", by="domain").frame.rows()
    assert by_domain == ("news", *whole)


def test_the_best_metric_of_a_group_is_not_that_of_another(tmp_path: Path) -> None:
    """Both are right about one system, each about its own."""
    only_a = {place: spans if place[0] == "A" else [] for place, spans in GOLD.items()}
    with warehouse_of(tmp_path, GOLD, {"Mine-src": MINE, "OnlyA-src": only_a}) as warehouse:
        found = metaeval.spans(warehouse, "t24", "en-de", by="system")
    best = found.frame.filter(found.frame["f"] == 1).select("system", "metric").rows()
    assert sorted(best) == [("A", "OnlyA-src"), ("B", "Mine-src")]
    system, metric = best[0]
    said = f"{metric} finds the marked error spans best of 2 metrics by mpp in system {system} (F 1.000, precision "
    assert found.summary.startswith(said)


def test_categories_have_recall_alone(tmp_path: Path) -> None:
    """Of two errors of accuracy one is found, the one of style is not; predictions have no categories."""
    with warehouse_of(tmp_path, GOLD, {"Mine-src": MINE}) as warehouse:
        database = warehouse.path
    gold = tmp_path / "gold.csv"
    gold.write_text(
        "system,segment,start,end,severity,category\nA,1,0,10,major,accuracy\nA,1,20,30,minor,style\n"
        "A,2,,,no-error,\nB,1,6,9,minor,accuracy\n"
    )
    assert not load([gold], database, given=LoadHints(testset="t24", lp="en-de", human="esa-2")).faults
    with Warehouse.open(database) as warehouse:
        found = metaeval.spans(warehouse, "t24", "en-de", human="esa-2", by="category").frame
    assert found.select("category", "precision", "recall", "f", "n_outputs").rows() == [
        ("accuracy", None, 0.5, None, 3),
        ("style", None, 0.0, None, 3),
    ]


def test_severities_of_overlapping_spans(marked: Warehouse) -> None:
    found = metaeval.spans(marked, "t24", "en-de", view="severities").frame
    counts = {(row["marked"], row["predicted"]): row["n"] for row in found.rows(named=True) if row["n"]}
    assert counts == {("minor", "major"): 1, ("major", "major"): 1, ("major", "none"): 1, ("none", "minor"): 2}


def test_outputs_that_differ_most(marked: Warehouse) -> None:
    found = metaeval.spans(marked, "t24", "en-de", view="outputs").frame
    assert found.select("system", "segment", "apart", "predicted", "marked").rows() == [
        ("A", 1, 2.0, 2, 2),
        ("A", 2, 1.0, 1, 0),
    ]
    assert metaeval.spans(marked, "t24", "en-de", view="outputs", n=1).frame.height == 1


def test_what_cannot_be_answered_is_one_line(marked: Warehouse) -> None:
    with pytest.raises(QuestionError, match="have no categories"):
        metaeval.spans(marked, "t24", "en-de", by="category")
    with pytest.raises(QuestionError, match="one of error spans"):
        metaeval.spans(marked, "t24", "en-de", measure="pa")
