"""The way of a file through the modules, as docs/walk.md tells it."""

import re
import sys
import threading
from pathlib import Path
from types import FrameType

from warehouse import load

WALK = Path(__file__).parents[2] / "docs" / "walk.md"
FILE = (
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
    "A\td\t1\t1\tr1\ts\tt\tAccuracy/Omission\tMajor",
    "B\td\t1\t1\tr1\ts\tt\tNo-error\tno-error",
)


def _entered(folder: Path) -> list[str]:
    """Modules of the warehouse in the order in which a load first comes to them."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("warehouse.") and frame.f_code.co_filename != "<string>":
            found[name] = None

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        assert load([folder], folder / "w.duckdb").is_clean
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(found)


def test_a_file_passes_the_modules_of_the_walk_in_its_order(tmp_path: Path) -> None:
    (tmp_path / "mqm_newstest2020_ende.tsv").write_text("".join(f"{line}\n" for line in FILE))
    told = re.findall(r"^\| \d+ \| `(warehouse\.[a-z_.0-9]+)`", WALK.read_text(encoding="utf-8"), re.MULTILINE)
    entered = _entered(tmp_path)
    assert [name for name in entered if name in told] == list(dict.fromkeys(told))
