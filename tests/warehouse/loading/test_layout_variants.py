"""The organisers' layout as others write it: line ends of Windows, domains beside segment scores, folders `data`."""

import gzip
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import tiny_bytes, tiny_layout
from tests.sharing import written
from tests.warehouse.building import ask, held
from tests.warehouse.loading.published import metric, write_task
from warehouse import load

Edit = Callable[[Path], None]
SCORES = "metric-scores/en-de/Fine-src.seg.score"
VALUES = "SELECT metric, system, segment, value FROM scores ORDER BY ALL"


def returned(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def returned_here_and_there(path: Path) -> None:
    ends = random.Random(0)
    lines = path.read_bytes().split(b"\n")[:-1]
    path.write_bytes(b"".join(line + ends.choice([b"\n", b"\r\n"]) for line in lines))


@pytest.mark.parametrize("edit", [returned, returned_here_and_there])
def test_line_ends_of_windows_change_nothing(edit: Edit, tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "windows")
    for path in root.rglob("*"):
        if path.is_file():
            edit(path)
    assert not load([root], tmp_path / "windows.duckdb").faults
    plain, windows = held(written(tmp_path / "plain.duckdb", tiny_bytes())), held(tmp_path / "windows.duckdb")
    assert {name for name in plain if plain[name] != windows[name]} <= {"sources"}


def test_files_that_differ_in_line_ends_are_one(tmp_path: Path) -> None:
    first = tiny_layout(tmp_path / "a")
    second = Path(shutil.copytree(first, tmp_path / "b" / first.name))
    returned(second / SCORES)
    report = load([first, second], tmp_path / "w.duckdb")
    assert not report.faults
    assert f"{second / SCORES}: the same as {first / SCORES}, loaded once" in report.notes


def with_domains(path: Path, domains: list[str]) -> None:
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{domains[at % len(domains)]}\t{line}\n" for at, line in enumerate(lines)))


def test_domains_may_stand_before_systems(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in")
    domains = [line.split("\t")[0] for line in (root / "documents/en-de.docs").read_text().splitlines()]
    with_domains(root / SCORES, domains)
    assert not load([root], tmp_path / "w.duckdb").faults
    plain = written(tmp_path / "plain.duckdb", tiny_bytes())
    assert ask(tmp_path / "w.duckdb", VALUES) == ask(plain, VALUES)


def test_they_are_the_segments_own(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in")
    with_domains(root / SCORES, ["news"])
    report = load([root], tmp_path / "w.duckdb")
    lines = (root / "documents/en-de.docs").read_text().splitlines()
    wrong = [number for number, line in enumerate(lines, start=1) if not line.startswith("news\t")]
    assert {(fault.found, fault.expected) for fault in report.faults if fault.line == wrong[0]} == {
        ("domain 'news'", "'speech', as in the documents file")
    }


PLACES = {
    "first/mine/2023/data": "mine-2023",
    "mine/data": "mine",
    "mine/2024/data/weak": "weak-2024",
    "weak": "weak",
}


def test_folders_called_data_name_nothing(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "made", facts=False)
    for place in PLACES:
        shutil.copytree(root, tmp_path / "in" / place)
    assert not load([tmp_path / "in" / place for place in PLACES], tmp_path / "w.duckdb").faults
    found = ask(tmp_path / "w.duckdb", "SELECT DISTINCT testset FROM scores")
    assert sorted(found) == sorted((testset,) for testset in PLACES.values())


def test_a_packed_file_is_whole_without_a_last_line_end(tmp_path: Path) -> None:
    task = write_task(tmp_path / "wmt20-metrics-task")
    path = metric(task)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).removesuffix(b"\n")))
    assert not load([task], tmp_path / "w.duckdb").faults
