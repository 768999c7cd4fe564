"""Copies that lie beside files: nothing is loaded twice, and no copy with other content goes unnoticed."""

import bz2
import gzip
import itertools
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.helpers import tiny_layout
from tests.warehouse.readers.samples import esa
from warehouse import LoadReport, Warehouse, load

COPIES = ["esa_wave1.csv.bak", "esa_wave1.csv~", "Copy of esa_wave1.csv", "esa_wave1 (1).csv", "esa_wave1_v2.csv"]
COPIES += ["esa_wave1 - Copy.csv", "esa_wave1_copy.csv", "esa_wave1.csv.orig"]
BACKUPS = [name for name in COPIES if name.endswith(("bak", "~", "orig"))]


def judged(folder: Path) -> int:
    with Warehouse.open(folder / "w.duckdb") as warehouse:
        return len(warehouse.rows("FROM judgements"))


def beside_copies(folder: Path, names: Iterable[str], score: str) -> LoadReport:
    (folder / "wmt23").mkdir()
    (folder / "wmt23" / "esa_wave1.csv").write_text(esa())
    for name in names:
        (folder / "wmt23" / name).write_text(esa(score=score))
    return load([folder / "wmt23"], folder / "w.duckdb")


@pytest.mark.parametrize(("names", "score"), [(COPIES, "80"), (BACKUPS, "90")])
def test_judgements_are_never_doubled_by_a_copy(names: list[str], score: str, tmp_path: Path) -> None:
    report = beside_copies(tmp_path, names, score)
    assert sorted(Path(path).name for path, _ in report.skipped) == sorted(names)
    assert report.faults == []
    assert judged(tmp_path) == 1


def test_a_copy_with_other_content_is_a_fault(tmp_path: Path) -> None:
    names = sorted({*COPIES} - {*BACKUPS})
    report = beside_copies(tmp_path, names, "90")
    found = [(Path(fault.path).name, fault.found) for fault in report.faults]
    assert sorted(found) == [(name, "a copy of esa_wave1.csv with other content") for name in names]
    assert [evalset.status for evalset in report.evalsets] == ["refused"]


def test_a_file_that_is_called_a_copy_is_loaded_where_it_is_alone(tmp_path: Path) -> None:
    (tmp_path / "Copy of esa_generalMT2024 (1).csv").write_text(esa())
    assert not load([tmp_path], tmp_path / "w.duckdb").faults
    assert judged(tmp_path) == 1


def test_packed_files_of_the_layout_are_faults(tmp_path: Path) -> None:
    paths = ("metric-scores/en-de/Rough-refA.seg.score", "human-scores/en-de.mqm.seg.score", "documents/en-de.docs")
    packed = []
    for path, (ending, pack) in itertools.product(paths, ((".gz", gzip.compress), (".bz2", bz2.compress))):
        plain = tiny_layout(tmp_path / "in", testset=f"t{len(packed)}") / path
        packed.append(plain.with_name(f"{plain.name}{ending}"))
        packed[-1].write_bytes(pack(plain.read_bytes()))
        plain.unlink()
    report = load([tmp_path / "in"], tmp_path / "w.duckdb")
    assert {(str(path), "unpack it") for path in packed} <= {(fault.path, fault.way_out) for fault in report.faults}


def test_two_systems_with_files_of_one_content_are_told(tmp_path: Path) -> None:
    """A system's own file may be called `_v2`, and so may a copy of another's."""
    folder = tmp_path / "wmt25-general-mt" / "data" / "automatic_scores"
    folder.mkdir(parents=True)
    place = {"language_pair": "en-de_DE", "domain": "news", "document_id": "a"}
    for name in ("Ash", "Ash_v2"):
        (folder / f"{name}.jsonl").write_text(json.dumps(place | {"metric_scores": {"chrF++": [1, 2.5]}}) + "\n")
    report = load([tmp_path], tmp_path / "w.duckdb")
    assert report.faults == []
    told = f"{folder / 'Ash_v2.jsonl'}: the same content as {folder / 'Ash.jsonl'}, under another name"
    assert told in report.notes


def test_a_submission_of_2015_is_known_by_its_columns_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "wmt15").mkdir()
    names = {"en-cs": "M.seg.score", "en-de": "M.seg_v2.score", "en-ru": "M.txt"}
    for lp, name in names.items():
        rows = (f"M\t{lp}\tnewstest2015\tAsh\t{at}\t0.{at}\n" for at in (1, 2, 3))
        (tmp_path / "wmt15" / name).write_text("".join(rows))
    assert not load([tmp_path / "wmt15"], tmp_path / "w.duckdb").faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        found = warehouse.rows("SELECT lp, system, segment, value FROM scores ORDER BY ALL")
    assert found == [(lp, "Ash", at, at / 10) for lp in names for at in (1, 2, 3)]
