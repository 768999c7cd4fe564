"""Copies that lie beside files: nothing is loaded twice, and no copy with other content goes unnoticed."""

import bz2
import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from tests.warehouse.building import ask, small
from tests.warehouse.readers.samples import esa
from warehouse import load
from warehouse.export.mtme import ScoreTable

COPIES = ["esa_wave1.csv.bak", "esa_wave1.csv~", "Copy of esa_wave1.csv", "esa_wave1 (1).csv", "esa_wave1_v2.csv"]
COPIES += ["esa_wave1 - Copy.csv", "esa_wave1_copy.csv", "esa_wave1.csv.orig"]
BACKUPS = [name for name in COPIES if name.endswith(("bak", "~", "orig"))]


@pytest.mark.slow
def test_copies_are_passed_over_and_one_with_other_content_is_a_fault(tmp_path: Path) -> None:
    """Judgements are never doubled; a name such as `Copy of` is loaded where it is alone."""
    others = sorted({*COPIES} - {*BACKUPS})
    for testset, names, score in (("wmt22", COPIES, "80"), ("wmt23", BACKUPS, "90"), ("wmt24", others, "90")):
        (tmp_path / "in" / testset).mkdir(parents=True)
        (tmp_path / "in" / testset / "esa_wave1.csv").write_text(esa())
        for name in names:
            (tmp_path / "in" / testset / name).write_text(esa(score=score))
    (tmp_path / "in" / "wmt25").mkdir()
    (tmp_path / "in" / "wmt25" / "Copy of esa_wave1 (1).csv").write_text(esa())
    report = load([tmp_path / "in"], tmp_path / "w.duckdb")
    skipped = sorted((Path(path).parent.name, Path(path).name) for path, _ in report.skipped)
    assert skipped == sorted([("wmt22", name) for name in COPIES] + [("wmt23", name) for name in BACKUPS])
    found = sorted((Path(fault.path).parent.name, Path(fault.path).name, fault.found) for fault in report.faults)
    assert found == [
        *(("wmt24", name, "a copy of esa_wave1.csv with different content") for name in others),
        ("wmt25", "Copy of esa_wave1 (1).csv", "a file named as a copy, without its original"),
    ]
    statuses = [(evalset.testset, evalset.status) for evalset in report.evalsets]
    assert statuses == [("wmt22", "loaded"), ("wmt23", "loaded"), ("wmt24", "refused")]
    assert ask(tmp_path / "w.duckdb", "SELECT testset, count(*) FROM judgements GROUP BY ALL ORDER BY ALL") == [
        *(("wmt22", 1), ("wmt23", 1))
    ]


def test_packed_files_of_the_layout_are_faults(tmp_path: Path) -> None:
    paths = ("metric-scores/en-de/A-refA.seg.score", "human-scores/en-de.mqm.seg.score", "documents/en-de.docs")
    scores = ScoreTable(["Ash"], seg=np.ones((1, 5)))
    packed = []
    for path, (ending, pack) in itertools.product(paths, ((".gz", gzip.compress), (".bz2", bz2.compress))):
        root = small(tmp_path / "in", testset=f"t{len(packed)}", humans={"mqm": scores}, metrics={"A-refA": scores})
        plain = root / path
        packed.append(plain.with_name(f"{plain.name}{ending}"))
        packed[-1].write_bytes(pack(plain.read_bytes()))
        plain.unlink()
    report = load([tmp_path / "in"], tmp_path / "w.duckdb")
    assert {(str(path), "unpack it") for path in packed} <= {(fault.path, fault.way_out) for fault in report.faults}


@pytest.mark.slow
def test_two_systems_with_files_of_one_content_are_told(tmp_path: Path) -> None:
    """A system's own file may be called `_v2`, and so may a copy of another's."""
    folder = tmp_path / "wmt25-general-mt" / "data" / "automatic_scores"
    folder.mkdir(parents=True)
    place = {"language_pair": "en-de_DE", "domain": "news", "document_id": "a"}
    for name in ("Ash", "Ash_v2"):
        (folder / f"{name}.jsonl").write_text(json.dumps(place | {"metric_scores": {"chrF++": [1, 2.5]}}) + "\n")
    report = load([tmp_path], tmp_path / "w.duckdb")
    assert report.faults == []
    told = f"{folder / 'Ash_v2.jsonl'} has the same content as {folder / 'Ash.jsonl'}, under another name"
    assert told in report.notes


@pytest.mark.slow
def test_a_submission_of_2015_is_known_by_its_columns_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "wmt15").mkdir()
    names = {"en-cs": "M.seg.score", "en-de": "M.seg_v2.score", "en-ru": "M.txt"}
    for lp, name in names.items():
        rows = (f"M\t{lp}\tnewstest2015\tAsh\t{at}\t0.{at}\n" for at in (1, 2, 3))
        (tmp_path / "wmt15" / name).write_text("".join(rows))
    assert not load([tmp_path / "wmt15"], tmp_path / "w.duckdb").faults
    found = ask(tmp_path / "w.duckdb", "SELECT lp, system, segment, value FROM scores ORDER BY ALL")
    assert found == [(lp, "Ash", at, at / 10) for lp in names for at in (1, 2, 3)]
