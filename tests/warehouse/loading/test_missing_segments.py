"""Files without some segment: the scores of the others are where they were, or the file is refused; none moves."""

from pathlib import Path

import pytest

from tests.warehouse.small_files import SMALL, Small, outcomes, unchanged

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


@pytest.mark.slow
@pytest.mark.every(5)
@pytest.mark.parametrize("segment", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("systems", ["all", "one"])
def test_no_score_moves_to_another_segment(segment: int, systems: str, tmp_path: Path) -> None:
    files = {name: SMALL[name].but(without(SMALL[name], segment, systems=systems)) for name in OF_SEGMENTS}
    for name, part in outcomes(tmp_path, files).items():
        if part.faults:
            assert (len(part.faults), part.rows) == (1, frozenset()), name
            continue
        whole, rows = unchanged()[name].rows, SMALL[name].rows
        assert part.rows < whole, name
        n_rows = sum(row.count("Birch") for row in rows) if systems == "one" else len(rows)
        assert len(whole) - len(part.rows) >= n_rows // 6, name


@pytest.mark.every(3)
@pytest.mark.parametrize("first", range(3))
def test_a_line_too_few_is_refused_where_lines_count_segments(first: int, tmp_path: Path) -> None:
    files = {}
    for number, name in enumerate(BY_PLACE, start=first):
        rows = list(SMALL[name].rows)
        del rows[(0, 7, 17)[number % 3]]
        files[name] = SMALL[name].but("".join(rows))
    for part in outcomes(tmp_path, files).values():
        assert (len(part.faults), part.rows) == (1, frozenset())


def test_a_list_of_fewer_segments_than_other_files_have_is_refused(tmp_path: Path) -> None:
    small = SMALL["WMT25 automatic"]
    first = small.rows[0].replace(", 1.3", "").replace(", 2.3", "")
    (part,) = outcomes(tmp_path, {"WMT25 automatic": small.but("".join([first, *small.rows[1:]]))}).values()
    assert (len(part.faults), part.rows) == (1, frozenset())
    assert "Aspen.jsonl:1: 2 of 3 segments of document 'doc-one'" in part.faults[0]
