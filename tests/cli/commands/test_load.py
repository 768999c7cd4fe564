"""`scorehouse load`: what it says and how it ends, with sound files and with a broken one."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import Ran, Scorehouse, refused, unchanged
from tests.helpers import tiny_layout

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


def _broken(layout: Path) -> Path:
    """The scores of a metric, without the last line."""
    lines = (layout / SCORES).read_text("utf-8").splitlines(keepends=True)
    (layout / SCORES).write_text("".join(lines[:-1]), "utf-8")
    return layout / SCORES


def test_a_load_sums_up_what_came_in(load: Callable[..., Ran], layout: Path) -> None:
    (row,) = load(layout).json
    assert list(row) == [
        *("testset", "lp", "status", "files", "unchanged", "broken"),
        *("scores", "rows", "missing", "seconds"),
    ]
    assert (row["testset"], row["lp"], row["status"], row["broken"]) == ("tiny24", "en-de", "loaded", 0)
    assert row["files"] == len([p for p in layout.rglob("*") if p.is_file() and p.name != "testset.toml"])


def test_loading_again_changes_nothing_and_says_so(load: Callable[..., Ran], layout: Path, tmp_path: Path) -> None:
    load(layout)
    with unchanged(tmp_path / "warehouse" / "own.duckdb"):
        ran = load(layout)
    assert (ran.code, _statuses(ran)) == (0, ["unchanged"])
    assert any(line.startswith("nothing to do: ") for line in ran.notes)


@pytest.mark.slow
def test_files_of_no_known_format_are_passed_over_with_the_reason(load: Callable[..., Ran], layout: Path) -> None:
    (layout / "README").write_text("hello\n")
    ran = load(layout)
    assert (ran.code, _statuses(ran)) == (0, ["loaded"])
    assert any(
        "skipped 1 file (not a known score format: text without columns)" in line and "README" in line
        for line in ran.notes
    )


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
    file = _broken(layout)
    with unchanged(tmp_path / "warehouse" / "own.duckdb"):
        ran = load(layout)
    assert (ran.code, _statuses(ran)) == (3, ["refused"])
    (line,) = [line for line in ran.notes if line.startswith("error: ")]
    assert line.startswith(f"error: {file}:19: system 'refA' has 4 scores, expected 5")


@pytest.mark.slow
def test_skip_broken_loads_the_rest_and_keeps_the_refusal_on_record(
    load: Callable[..., Ran], scorehouse: Scorehouse, layout: Path
) -> None:
    file = _broken(layout)
    ran = load(layout, "--skip-broken")
    (row,) = json.loads(ran.out)
    assert (ran.code, row["status"], row["broken"]) == (3, "loaded", 1)
    assert any(line.startswith(f"error: {file}") for line in ran.notes)
    refusals = [r for r in scorehouse("list", "sources", "--format", "json").json if r["status"] == "refused"]
    assert [(r["path"], "has 4 scores" in r["fault"]) for r in refusals] == [(str(file.resolve()), True)]
    metrics = {row["metric"] for row in scorehouse("list", "metrics", "--format", "json").json}
    assert "Rough-refA" in metrics
    assert scorehouse("rank", "tiny24", "en-de", "-m", "pa").code == 0


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


@pytest.mark.slow
def test_one_more_fault_is_one_and_very_many_are_examples_and_a_count(load: Callable[..., Ran], tmp_path: Path) -> None:
    lines = [f"t24,x,Mine,A,{number},0.5\n" for number in range(1, 31)]
    header = "testset,lp,metric,system,seg,score\n"
    (tmp_path / "other.csv").write_text(header + lines[0])

    def told(n: int) -> list[str]:
        (tmp_path / "mine.csv").write_text(header + "".join(lines[:n]))
        ran = load(tmp_path / "mine.csv", tmp_path / "other.csv")
        return [line for line in ran.notes if line.startswith("error: ")]

    first, *more, last = told(20)
    assert first.endswith("mine.csv:2: language pair 'x', expected one such as en-de")
    assert last == "error: 1 more fault; --verbose names them all"
    assert len(more) == 20 - 1
    *examples, further, _ = told(30)
    assert further.endswith("mine.csv: 27 more such lines, expected one such as en-de")
    assert examples == [first, *more[:2]]


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
