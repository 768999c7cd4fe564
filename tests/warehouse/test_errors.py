"""What messages say of what stands in files: enough to find it, never a page."""

from pathlib import Path

import pytest

from tests.helpers import tiny_layout
from warehouse import load
from warehouse.errors import Fault, shortened

MANY = "many words " * 20


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (f"score '{'9' * 60}'", f"score '{'9' * 60}'"),
        (f"score '{'9' * 200}'", f"score '{'9' * 60}…'"),
        (f"start {'9' * 200}, of 'A'", f"start {'9' * 60}… of 'A'"),
        (f"language pair ['{'x' * 200}']", f"language pair ['{'x' * 60}…']"),
        (f"""system "it's {"x" * 200}" and 'B'""", f"""system "it's {"x" * 55}…" and 'B'"""),
        (f"then 'A long sentence, {MANY}'", f"then 'A long sentence, {MANY[:43]}…'"),
        (f"it can't be that 'A' and 'B' have {MANY}", f"it can't be that 'A' and 'B' have {MANY}"),
        (f"another score than in {'/folder' * 20}:3", f"another score than in {'/folder' * 20}:3"),
    ],
)
def test_long_words_and_quotations_end_in_an_ellipsis_and_paths_stay_whole(message: str, shown: str) -> None:
    assert shortened(message) == shown


def test_where_and_the_way_out_stay_whole() -> None:
    fault = Fault("f" * 100, 3, "f" * 100, "g" * 100, "load " + "h" * 100)
    assert str(fault) == f"{'f' * 100}:3: {'f' * 60}…, expected {'g' * 60}…; load {'h' * 100}"


def test_a_huge_number_in_a_file_is_not_printed_in_full(tmp_path: Path) -> None:
    layout = tiny_layout(tmp_path / "layout")
    (path,) = layout.rglob("Fine-src.seg.score")
    lines = path.read_text().splitlines()
    lines[0] = f"{lines[0].split()[0]}\t{'9' * 200}x"
    path.write_text("\n".join(lines) + "\n")
    (fault,) = load([layout], tmp_path / "w.duckdb").faults
    assert f"score '{'9' * 60}…'" in str(fault)
    assert len(str(fault)) < len(str(path)) + 150
