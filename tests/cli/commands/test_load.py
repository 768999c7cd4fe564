"""`scorehouse load`: what it says and how it ends, with sound files and with every kind of broken ones."""

import json
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import Ran, Scorehouse, refused, unchanged
from tests.helpers import tiny_layout
from warehouse.export.mtme import ScoreTable

SCORES = Path("metric-scores") / "en-de" / "Fine-src.seg.score"


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    return tiny_layout(tmp_path / "layout")


@pytest.fixture
def load(scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """`scorehouse load` into a warehouse of the test's own."""
    monkeypatch.setenv("SCOREHOUSE_DB", str(tmp_path / "warehouse" / "own.duckdb"))
    return lambda *words: scorehouse("load", *words, "--format", "json")


def _statuses(ran: Ran) -> list[str]:
    return [row["status"] for row in json.loads(ran.out)]


def _edited(layout: Path, edit: Callable[[list[str]], list[str]], path: Path = SCORES) -> Path:
    lines = (layout / path).read_text(encoding="utf-8").splitlines()
    (layout / path).write_text("".join(f"{line}\n" for line in edit(lines)), encoding="utf-8")
    return layout / path


def test_a_load_sums_up_what_came_in(load: Callable[..., Ran], layout: Path) -> None:
    (row,) = load(layout).json
    assert list(row) == [
        *("testset", "lp", "status", "files", "unchanged", "broken"),
        *("scores", "rows", "missing", "seconds"),
    ]
    assert (row["testset"], row["lp"], row["status"], row["broken"]) == ("tiny24", "en-de", "loaded", 0)
    assert row["files"] == len([p for p in layout.rglob("*") if p.is_file() and p.name != "testset.toml"])


@pytest.mark.parametrize(
    "place",
    [
        "..",
        "metric-scores/en-de",
        *(pytest.param(name, marks=pytest.mark.long("loads")) for name in (".", "metric-scores")),
    ],
)
def test_any_folder_above_or_inside_the_layout_will_do(load: Callable[..., Ran], layout: Path, place: str) -> None:
    assert _statuses(load(layout / place)) == ["loaded"]


def test_loading_again_changes_nothing_and_says_so(load: Callable[..., Ran], layout: Path, tmp_path: Path) -> None:
    load(layout)
    with unchanged(tmp_path / "warehouse" / "own.duckdb"):
        ran = load(layout)
    assert (ran.code, _statuses(ran)) == (0, ["unchanged"])
    assert any(line.startswith("nothing to do: ") for line in ran.notes)


@pytest.mark.slow
def test_changed_content_takes_the_place_of_the_old_and_says_so(
    load: Callable[..., Ran], scorehouse: Scorehouse, layout: Path
) -> None:
    load(layout)
    _edited(layout, lambda lines: ["Ash\t0.25", *lines[1:]])
    assert _statuses(load(layout)) == ["replaced"]
    query = "SELECT value FROM scores WHERE metric = 'Fine-src' AND system = 'Ash' AND segment = 1"
    assert scorehouse("sql", query, "--format", "json").json == [{"value": 0.25}]


def test_files_of_no_known_format_are_passed_over_with_the_reason(load: Callable[..., Ran], layout: Path) -> None:
    (layout / "README").write_text("hello\n")
    ran = load(layout)
    assert (ran.code, _statuses(ran)) == (0, ["loaded"])
    assert any(
        "skipped 1 file (not a known score format: text without columns)" in line and "README" in line
        for line in ran.notes
    )


def _insert(text: str, at: int) -> Callable[[list[str]], list[str]]:
    return lambda lines: [*lines[:at], text, *lines[at:]]


def _replace(text: str, at: int) -> Callable[[list[str]], list[str]]:
    return lambda lines: [*lines[:at], text, *lines[at + 1 :]]


BROKEN = {
    "a line too few": (lambda lines: lines[:-1], ["'refA' has 4 scores", "expected 5"]),
    "a line too many": (lambda lines: [*lines, lines[-1]], ["'refA' has 6 scores", "expected 5"]),
    "a line too few in the middle": (lambda lines: lines[:7] + lines[8:], ["'Beech' has 4 scores", "expected 5"]),
    "an unknown system": (lambda lines: [line.replace("Beech", "Beach") for line in lines], ["'Beach'", "'Beech'"]),
    "a blank line in the middle": (_insert("", 6), [":7:", "a blank line"]),
    "a blank line at the end": (lambda lines: [*lines, ""], [":21:", "a blank line"]),
    "nan": (_replace("Ash\tnan", 2), [":3:", "'nan'", "a finite number, or None where missing"]),
    "inf": (_replace("Ash\t-inf", 2), [":3:", "'-inf'", "a finite number"]),
    "a number beyond all bounds": (_replace("Ash\t1e999", 2), [":3:", "'1e999'", "a finite number"]),
    "abc": (_replace("Ash\tabc", 2), [":3:", "'abc'", "a finite number"]),
    "no score": (_replace("Ash\t", 2), [":3:"]),
    "no tab": (_replace("Ash 0.5", 2), [":3:", "1 column"]),
    "a column too many": (_replace("Ash\t0.5\t0.5", 2), [":3:", "3 columns"]),
    "no lines": (lambda lines: [], ["the file is empty"]),
}


ALIKE = ("a line too few", "inf", "a number beyond all bounds", "abc")
"""Kinds of a class with another one of them."""


@pytest.mark.every(3)
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.long("half a second") if kind in ALIKE else ()) for kind in BROKEN]
)
def test_a_broken_file_is_refused_with_file_line_found_and_expected(
    kind: str, load: Callable[..., Ran], layout: Path, tmp_path: Path
) -> None:
    edit, hints = BROKEN[kind]
    file = _edited(layout, edit)
    ran = load(layout)
    assert (ran.code, _statuses(ran)) == (3, ["refused"])
    faults = [line for line in ran.notes if line.startswith("error: ")]
    assert faults
    assert faults[0].startswith(f"error: {file}")
    for hint in hints:
        assert hint in faults[0]
    assert not (tmp_path / "warehouse" / "own.duckdb").exists()


def test_no_name_in_a_message_commands_the_terminal(load: Callable[..., Ran], layout: Path) -> None:
    (layout / SCORES).with_name("\x1b[0mN-src.seg.score").write_text("\x1b[1mA\t1\n")
    ran = load(layout)
    assert ran.code == 3
    assert "\\x1b[0mN-src.seg.score" in ran.err
    assert not [sign for sign in ran.err if sign != "\n" and unicodedata.category(sign) in ("Cc", "Zl")]


def test_a_broken_file_leaves_what_was_loaded_before_as_it_was(
    load: Callable[..., Ran], layout: Path, tmp_path: Path
) -> None:
    load(layout)
    _edited(layout, lambda lines: lines[:-1])
    with unchanged(tmp_path / "warehouse" / "own.duckdb"):
        assert load(layout).code == 3


def test_all_faults_are_reported_at_once(load: Callable[..., Ran], layout: Path) -> None:
    first = _edited(layout, lambda lines: lines[:-1])
    second = _edited(layout, _replace("Ash\tnan", 0), Path("human-scores") / "en-de.mqm.seg.score")
    errors = [line for line in load(layout).notes if line.startswith("error: ")]
    assert any(line.startswith(f"error: {first}") for line in errors)
    assert any(line.startswith(f"error: {second}:1: ") for line in errors)


def test_one_evaluation_set_is_refused_and_the_others_load(load: Callable[..., Ran], layout: Path) -> None:
    other = tiny_layout(layout.parent, testset="tiny25")
    _edited(other, lambda lines: lines[:-1])
    ran = load(layout.parent)
    assert (ran.code, _statuses(ran)) == (3, ["loaded", "refused"])


def test_skip_broken_loads_the_rest_and_keeps_the_refusal_on_record(
    load: Callable[..., Ran], scorehouse: Scorehouse, layout: Path
) -> None:
    file = _edited(layout, lambda lines: lines[:-1])
    ran = load(layout, "--skip-broken")
    (row,) = json.loads(ran.out)
    assert (ran.code, row["status"], row["broken"]) == (3, "loaded", 1)
    assert any(line.startswith(f"error: {file}") for line in ran.notes)
    refusals = [r for r in scorehouse("list", "sources", "--format", "json").json if r["status"] == "refused"]
    assert [(r["path"], "has 4 scores" in r["fault"]) for r in refusals] == [(str(file.resolve()), True)]
    metrics = {row["metric"] for row in scorehouse("list", "metrics", "--format", "json").json}
    assert "Rough-refA" in metrics
    assert scorehouse("rank", "tiny24", "en-de", "-m", "pa").code == 0


def test_two_files_for_the_same_scores_must_agree(load: Callable[..., Ran], layout: Path, tmp_path: Path) -> None:
    again = tiny_layout(tmp_path / "again")
    assert _statuses(load(layout, again)) == ["loaded"]
    file = _edited(again, _replace("Ash\t0.125", 0))
    ran = load(layout, again)
    assert (ran.code, _statuses(ran)) == (3, ["refused"])
    faults = [line for line in ran.notes if line.startswith("error: ")]
    assert len(faults) == 2  # nobody can tell which of the two is right
    assert all(str(file) in fault and str(layout / SCORES) in fault for fault in faults)
    assert all("with other content" in fault for fault in faults)


def test_an_empty_folder_is_told_as_such(load: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused(load(tmp_path / "empty"), 3, "empty", "an empty folder, expected score files below it")


def test_a_folder_without_score_files_is_told_as_such(load: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("hello\n")
    refused(load(tmp_path / "notes"), 3, "notes", "no score files among 1 file")


def test_a_missing_path_is_told_as_such(load: Callable[..., Ran], layout: Path, tmp_path: Path) -> None:
    refused(load(tmp_path / "absent"), 2, "absent", "no such file or folder")
    refused(load(layout, tmp_path / "absent"), 2, "absent", "no such file or folder")
    assert not (tmp_path / "warehouse").exists()


def test_many_faults_are_cut_short_unless_all_are_asked_for(load: Callable[..., Ran], layout: Path) -> None:
    for path in sorted(layout.rglob("*.score")):
        path.write_text("x\n" * 30)
    short, long = load(layout), load(layout, "--verbose")
    assert short.notes[-1].endswith("more faults; --verbose names them all")
    assert len(long.notes) > len(short.notes)
    assert not any("--verbose" in line for line in long.notes)


def test_one_more_fault_is_one(load: Callable[..., Ran], tmp_path: Path) -> None:
    lines = [f"t24,x,Mine,A,{number},0.5\n" for number in range(1, 31)]
    (tmp_path / "mine.csv").write_text("testset,lp,metric,system,seg,score\n" + "".join(lines))
    (tmp_path / "other.csv").write_text("testset,lp,metric,system,seg,score\n" + lines[0])
    told = [line for line in load(tmp_path / "mine.csv", tmp_path / "other.csv").notes if line.startswith("error: ")]
    first, *_, further, last = told
    assert first.endswith("mine.csv:2: language pair 'x', expected one such as en-de")
    assert further.endswith("mine.csv: 10 more such lines, expected one such as en-de")
    assert last == "error: 1 more fault; --verbose names them all"
    assert len(told) == 20 + 2


def test_a_warehouse_in_a_place_that_cannot_be_made_is_reported(
    scorehouse: Scorehouse, layout: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    refused(scorehouse("--db", tmp_path / "file" / "own.duckdb", "load", layout), 4, "own.duckdb")
    refused(scorehouse("--db", tmp_path, "load", layout), 4, "a folder, expected a warehouse file")


@pytest.mark.parametrize("words", [("",), ("", "task"), ("task", "")])
def test_an_empty_path_is_refused_and_is_not_the_folder_one_stands_in(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_layout(tmp_path / "task")
    monkeypatch.chdir(tmp_path)
    refused(scorehouse("--db", tmp_path / "a.duckdb", "load", *words), 2, "an empty PATH", "files or folders")
    assert not (tmp_path / "a.duckdb").exists()


def test_a_score_beyond_what_sums_can_hold_is_reported_with_the_bound(scorehouse: Scorehouse, tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "task")
    file = root / "metric-scores" / "en-de" / "Fine-src.seg.score"
    file.write_text(file.read_text().replace("0.9", "1.0001e100", 1))
    ran = scorehouse("--db", tmp_path / "a.duckdb", "load", root)
    assert ran.code == 3
    (line,) = [note for note in ran.notes if note.startswith("error: ")]
    assert "1 score that is no finite number of at most 1e+100 in size, the first of system 'Ash'" in line
    assert "plausible numbers, or None where missing" in line


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_a_metric_file_with_any_name_is_loaded_and_listed(scorehouse: Scorehouse, tmp_path: Path) -> None:
    names = ["a b", "-x", "A\x1b[31m", "two\nlines", "tab\there", "*", "[1]", "%s", "{x}", "$(x)", "'"]
    tables = {f"M{place}-src": ScoreTable(["Ash"], seg=np.full((1, 5), place)) for place in range(len(names))}
    root = tiny_layout(tmp_path / "task", metrics=tables)
    for place, name in enumerate(names):
        file = root / "metric-scores" / "en-de" / f"M{place}-src.seg.score"
        file.rename(file.with_name(f"{name}-src.seg.score"))
    ran = scorehouse("--db", tmp_path / "a.duckdb", "load", root)
    assert ran.code == 0, ran.err
    listed = scorehouse("--db", tmp_path / "a.duckdb", "list", "metrics", "--format", "json").json
    assert sorted(row["metric"] for row in listed) == sorted(f"{name}-src" for name in names)
