"""The organisers' layout as others write it: line ends of Windows, domains beside segment scores, folders `data`."""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import DOCUMENTS, tiny_bytes, tiny_layout
from tests.sharing import written
from tests.warehouse.building import ask, by_cell, cells_of, edited, held, small
from warehouse import load
from warehouse.export.mtme import ScoreTable


@pytest.mark.slow
def test_line_ends_of_windows_change_nothing(tmp_path: Path) -> None:
    """In all lines of every second file, and here and there in the others."""
    root, ends = tiny_layout(tmp_path / "in"), random.Random(0)
    for number, path in enumerate(sorted(path for path in root.rglob("*") if path.is_file())):
        lines = path.read_bytes().split(b"\n")[:-1]
        path.write_bytes(b"".join(line + ends.choice([b"\r\n", b"\n"][: 1 + number % 2]) for line in lines))
    assert not load([root], tmp_path / "windows.duckdb").faults
    plain, windows = held(written(tmp_path / "plain.duckdb", tiny_bytes())), held(tmp_path / "windows.duckdb")
    assert {name for name in plain if plain[name] != windows[name]} <= {"sources"}


@pytest.mark.slow
def test_columns_may_be_separated_by_any_white_space(tmp_path: Path) -> None:
    root, blanks = tiny_layout(tmp_path / "in"), random.Random(0)
    for path in sorted(path for folder in ("documents", "*-scores") for path in root.glob(f"{folder}/**/*.*")):
        lines = path.read_text().split("\n")[:-1]
        path.write_text("".join(line.replace("\t", blanks.choice([" ", "   ", "\t"])) + "\n" for line in lines))
    edited(root / "human-scores" / "en-de.mqm.seg.score", lambda lines: [line.replace("\t", " ") for line in lines])
    report = load([root], tmp_path / "blanks.duckdb")
    assert not report.faults, report.faults
    plain, found = held(written(tmp_path / "plain.duckdb", tiny_bytes())), held(tmp_path / "blanks.duckdb")
    assert {name for name in plain if plain[name] != found[name]} <= {"sources"}


@pytest.mark.slow
def test_a_set_without_documents_has_as_many_segments_as_lines_until_they_come(tmp_path: Path) -> None:
    root, database = tiny_layout(tmp_path / "in"), tmp_path / "w.duckdb"
    shutil.move(root / "documents", tmp_path / "documents")
    report = load([root], database)
    assert report.is_clean, report.faults
    assert [note for note in report.notes if "documents" in note] == [
        "tiny24 en-de: no documents/en-de.docs; 5 segments without documents"
    ]
    assert ask(database, "SELECT segment, document FROM segments ORDER BY 1") == [(n, None) for n in range(1, 6)]
    assert {evalset.status for evalset in load([root], database).evalsets} == {"unchanged"}
    shutil.move(tmp_path / "documents", root / "documents")
    assert load([root], database).is_clean
    plain, found = held(written(tmp_path / "plain.duckdb", tiny_bytes())), held(database)
    assert {name for name in plain if plain[name] != found[name]} == set()


def test_files_without_documents_that_count_segments_differently_are_refused(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in")
    shutil.rmtree(root / "documents")
    edited(root / "sources" / "en-de.txt", lambda lines: lines[:4])
    report = load([root], tmp_path / "w.duckdb")
    assert [(fault.found, fault.expected) for fault in report.faults] == [("4 lines", "5 (segments of tiny24 en-de)")]


@pytest.mark.slow
def test_domains_that_stand_before_systems_are_the_segments_own(tmp_path: Path) -> None:
    values, names = np.arange(10.0).reshape(2, 5), [domain for domain, _ in DOCUMENTS]
    for testset, domains in {"own": names, "plain": None, "wrong": ["news"] * 5}.items():
        root = small(tmp_path / "in", testset=testset, metrics={"M-src": ScoreTable(["Ash", "Elm"], seg=values)})
        if domains is not None:
            path = root / "metric-scores" / "en-de" / "M-src.seg.score"
            edited(path, lambda lines, domains=domains: [f"{domains[n % 5]}\t{line}" for n, line in enumerate(lines)])
    report = load([tmp_path / "in"], tmp_path / "w.duckdb")
    found = ask(tmp_path / "w.duckdb", "SELECT system, segment, value, testset FROM scores")
    assert by_cell([row[:3] for row in found if row[3] == "own"]) == cells_of(("Ash", "Elm"), values)
    assert {row[3] for row in found} == {"own", "plain"}
    assert {(fault.line, fault.found, fault.expected) for fault in report.faults} == {
        (line, "domain 'news'", "'speech', as in the documents file") for line in (4, 5, 9, 10)
    }


PLACES = {
    "first/mine/2023/data": "mine-2023",
    "mine/data": "mine",
    "mine/2024/data/weak": "weak-2024",
    "weak": "weak",
}


@pytest.mark.slow
def test_folders_called_data_name_nothing(tmp_path: Path) -> None:
    scores = {"M-src": ScoreTable(["Ash"], seg=np.ones((1, 5)))}
    root = small(tmp_path / "made", metrics=scores)
    (root / "testset.toml").unlink()
    for place in PLACES:
        shutil.copytree(root, tmp_path / "in" / place)
    assert not load([tmp_path / "in" / place for place in PLACES], tmp_path / "w.duckdb").faults
    found = ask(tmp_path / "w.duckdb", "SELECT DISTINCT testset FROM scores")
    assert sorted(found) == sorted((testset,) for testset in PLACES.values())
