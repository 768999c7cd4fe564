"""Files without some segment: the scores of the others are where they were, or the file is refused; none moves."""

from pathlib import Path

import pytest

from tests.warehouse.small_files import SMALL, Small, outcome, unchanged, written

OF_SEGMENTS = [name for name, small in SMALL.items() if small.segment_of is not None]
BY_PLACE = ["layout's metric", "layout's human score", "layout's ratings"]  # a line is a segment


def without(small: Small, segment: int, *, systems: str) -> str:
    """The file without a segment, of all systems or of one."""
    assert small.segment_of is not None
    rows = [
        row
        for at, row in enumerate(small.rows)
        if small.segment_of(at) != segment or (systems == "one" and "Birch" not in row)
    ]
    return small.header + "".join(rows)


@pytest.mark.every(11)
@pytest.mark.parametrize("name", OF_SEGMENTS)
@pytest.mark.parametrize("segment", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("systems", ["all", "one"])
def test_no_score_moves_to_another_segment(name: str, segment: int, systems: str, tmp_path: Path) -> None:
    small = SMALL[name]
    written(tmp_path / "part", small, {small.path: without(small, segment, systems=systems).encode()})
    whole, _ = unchanged(name)
    part, faults, _ = outcome(tmp_path / "part", small.given)
    if faults:
        assert (len(faults), part) == (1, frozenset())
        return
    assert part < whole
    n_rows = sum(row.count("Birch") for row in small.rows) if systems == "one" else len(small.rows)
    assert len(whole) - len(part) >= n_rows // 6


@pytest.mark.parametrize("name", BY_PLACE)
@pytest.mark.parametrize("at", [0, 7, 17])
def test_a_line_too_few_is_refused_where_lines_count_segments(name: str, at: int, tmp_path: Path) -> None:
    small = SMALL[name]
    rows = [row for number, row in enumerate(small.rows) if number != at]
    written(tmp_path / "part", small, {small.path: "".join(rows).encode()})
    part, faults, _ = outcome(tmp_path / "part")
    assert (len(faults), part) == (1, frozenset())


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_list_of_fewer_segments_than_other_files_have_is_refused(at: int, tmp_path: Path) -> None:
    small = SMALL["WMT25 automatic"]
    first = (
        small.rows[0]
        .replace(f"1.{at + 1}, " if at < 2 else ", 1.3", "")
        .replace(f"2.{at + 1}, " if at < 2 else ", 2.3", "")
    )
    written(tmp_path / "part", small, {small.path: "".join([first, *small.rows[1:]]).encode()})
    part, faults, _ = outcome(tmp_path / "part")
    assert (len(faults), part) == (1, frozenset())
    assert "Aspen.jsonl:1: 2 of 3 segments of document 'doc-one'" in faults[0]
