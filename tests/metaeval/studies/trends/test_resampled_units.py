"""Gaps and their resamples by whole documents or by segments, as tests elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from metaeval.measures.options import Options, TestOptions, Unit
from metaeval.measures.registry import parse_measure
from metaeval.studies.trends.history import Entry, History, SetHistory
from metaeval.studies.trends.points import Point, point
from metaeval.studies.trends.tables import targets
from queries.slices import Slice
from tests.metaeval.document_blocks import block, documents

ITEMS = parse_measure("acc_eq(by=item)")
QUICK = TestOptions(resamples=20)


def found(n_documents: int, unit: Unit | None, measure: str = "acc_eq(by=item)") -> Point:
    options = Options() if measure != "pearson" else Options(system_score="mean")
    return point(block(documents(n_documents)), parse_measure(measure), options, replace(QUICK, unit=unit), "A")


@pytest.mark.parametrize(
    ("n_documents", "unit", "by"),
    [(12, None, "document"), (9, None, "segment"), (12, "segment", "segment"), (9, "document", "document")],
)
def test_gaps_of_segments_are_tested_and_resampled_by_document_from_ten_on(
    n_documents: int, unit: Unit | None, by: str
) -> None:
    one = found(n_documents, unit)
    assert one.generalises == f"new systems and new {by}s"
    assert f"|unit:{by}|" in one.signature
    assert (",by_document" in one.signature) == (by == "document")
    assert np.isfinite(one.gap_p[1:]).all()
    assert np.isfinite(one.covariance).all()


def test_the_unit_moves_intervals_and_never_a_value() -> None:
    by_document, by_segment = found(12, None), found(12, "segment")
    for name in ("value", "gap"):
        np.testing.assert_array_equal(getattr(by_document, name), getattr(by_segment, name))
    assert not np.array_equal(by_document.covariance, by_segment.covariance)


def test_a_unit_that_changes_nothing_says_so_and_too_few_documents_leave_the_values() -> None:
    of_systems = found(12, "document", "pearson")
    assert of_systems.generalises == "new systems on these segments"
    assert [note for note in of_systems.notes if "changes nothing" in note] == [
        "unit document changes nothing: gaps of pearson are for new systems on these segments"
    ]
    few = found(5, "document")
    assert np.isfinite(few.value).all()
    assert np.isnan(few.gap_p).all()
    assert any("5 documents" in note for note in few.notes)


def test_what_gaps_are_for_is_one_line_for_each_unit() -> None:
    points = (("a", found(12, None)), ("b", found(9, None)), ("c", found(12, None)))
    entries = tuple(Entry(name, "xx-yy", 2020, SetHistory((one,), None, "s")) for name, one in points)
    history = History(
        asked=Slice("all", "all"), measure=ITEMS, options=Options(), testing=QUICK, anchor="A", entries=entries
    )
    lead = "tests and intervals of gaps are for new systems and new"
    assert targets(history) == [f"{lead} documents: a xx-yy; c xx-yy", f"{lead} segments: b xx-yy"]
    assert targets(replace(history, entries=entries[:1])) == [f"{lead} documents"]
