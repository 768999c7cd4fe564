"""Where files may lie: odd paths, links, hidden and foreign files, several ways to one file."""

import errno
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import DOCUMENTS, LP, TESTSET, together
from tests.warehouse.building import ask, edited, empty_warehouse, loaded, small, statuses
from warehouse import load
from warehouse.export.mtme import ScoreTable
from warehouse.readers.claims import Claim
from warehouse.readers.recognition import NO_NAMES, UNKNOWN_FORMAT, claim

ONES = ScoreTable(["Ash"], seg=np.ones((1, 5)))
RATING = "human-scores/en-de.mqm.seg.rating"


FOLDERS = ["two words", "a[1]", "a*", "a?b", "it's", 'say "x"', "{a,b}", "ß中", "a;b", "%20", "$x", "~", "a=1"]
FOLDERS += ["[", "]", "#"]


@pytest.mark.slow
def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """Beside odd folders there are some that their names would stand for as patterns; the database's is new."""
    zeros = ScoreTable(["Ash"], seg=np.zeros((1, 5)))
    testsets = {f"folder{number}": name for number, name in enumerate(FOLDERS)}
    for testset, name in testsets.items():
        small(tmp_path / name, testset=testset, metrics={"A-src": ONES})
    for name in ("a1", "axb"):
        small(tmp_path / name, testset=f"decoy-{name}", metrics={"A-src": zeros})
    database = tmp_path / "new" / "folder" / "it's.duckdb"
    report = load([tmp_path / name for name in FOLDERS], database)
    assert (report.faults, report.notes) == ([], [])
    assert statuses(report) == ["loaded"] * len(FOLDERS)
    values = dict(ask(database, "SELECT testset, list(DISTINCT value) FROM scores GROUP BY testset"))
    assert values == {testset: [1.0] for testset in testsets}
    paths = dict(ask(database, "SELECT testset, max(path) FROM sources GROUP BY testset"))
    assert paths == {
        testset: str(tmp_path / name / testset / "metric-scores" / LP / "A-src.seg.score")
        for testset, name in testsets.items()
    }


@pytest.mark.slow
@pytest.mark.skipif(os.sep == "\\", reason="the backslash parts folders here")
def test_a_backslash_in_a_path_is_taken_or_told(tmp_path: Path) -> None:
    folders = {"one": "a\\b", "two": "a\\b[1]"}
    roots = [small(tmp_path / name, testset=testset, metrics={"A-src": ONES}) for testset, name in folders.items()]
    report = load(roots, tmp_path / "a.duckdb")
    assert statuses(report) == ["loaded", "loaded"] or "a path that contains a backslash" in report.faults[0].found
    assert len(ask(tmp_path / "a.duckdb", "FROM scores WHERE testset = 'one'")) == 5


@pytest.mark.slow
def test_relative_paths_are_recorded_as_absolute_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = small(tmp_path / "in", metrics={"A-src": ONES}, humans={"mqm": ONES})
    monkeypatch.chdir(root / "metric-scores")
    report = load([Path(), Path("../human-scores")], empty_warehouse(tmp_path / "a.duckdb"))
    assert statuses(report) == ["loaded"]
    paths = {path for (path,) in ask(tmp_path / "a.duckdb", "SELECT path FROM sources")}
    assert paths == {str(path) for path in root.rglob("*.*") if path.name != "testset.toml"}


@pytest.mark.slow
def test_the_same_file_by_several_paths_and_links_in_a_circle_is_loaded_once(tmp_path: Path) -> None:
    root = small(tmp_path / "in", metrics={"A-src": ONES}, humans={"mqm": ONES})
    (root / "again").symlink_to(root)
    (root / "up").symlink_to(tmp_path)
    report = load([root, root.parent, root / "metric-scores", root / "metric-scores" / ".."], tmp_path / "a.duckdb")
    assert (report.evalsets[0].n_files, report.notes, report.faults) == (3, [], [])


@pytest.mark.slow
def test_linked_folders_and_files_are_followed(tmp_path: Path) -> None:
    real = small(tmp_path / "real", metrics={"A-src": ONES}, humans={"mqm": ONES})
    linked = tmp_path / "in" / TESTSET
    linked.mkdir(parents=True)
    for place in ("documents", "human-scores"):
        (linked / place).symlink_to(real / place)
    (linked / "metric-scores" / LP).mkdir(parents=True)
    (linked / "metric-scores" / LP / "Other-src.seg.score").symlink_to(real / "metric-scores" / LP / "A-src.seg.score")
    database = loaded(linked.parent, tmp_path / "a.duckdb")
    assert ask(database, "SELECT metric FROM metrics") == [("Other-src",)]
    assert len(ask(database, "FROM human_scores")) == 5


def test_a_test_set_copied_under_a_second_folder_is_taken_once_with_a_note(tmp_path: Path) -> None:
    """Also a copy with other line ends."""
    root = small(tmp_path / "in", metrics={"A-src": ONES}, humans={"mqm": ONES})
    copy = shutil.copytree(root, tmp_path / "in" / "copy" / TESTSET)
    place = Path("metric-scores", LP, "A-src.seg.score")
    (copy / place).write_bytes((root / place).read_bytes().replace(b"\n", b"\r\n"))
    report = load([tmp_path / "in"], tmp_path / "a.duckdb")
    assert (statuses(report), report.evalsets[0].n_files, report.faults) == (["loaded"], 3, [])
    assert len(report.notes) == 3
    assert all(" is the same as " in note and note.endswith(", which is loaded once") for note in report.notes)
    assert str(copy) in report.notes[0] or str(root) in report.notes[0]


@pytest.mark.slow
def test_two_files_of_one_origin_that_differ_are_both_at_fault(tmp_path: Path) -> None:
    """Other line ends alone are not called other content."""
    root = small(tmp_path / "in", metrics={"A-src": ONES}, humans={"mqm": ONES})
    ended, other = (shutil.copytree(root, tmp_path / "in" / name / TESTSET) for name in ("ended", "other"))
    place = Path("metric-scores", LP, "A-src.seg.score")
    (ended / place).write_bytes((root / place).read_bytes().replace(b"\n", b"\r\n"))
    edited(other / place, lambda lines: ["Ash\t0.5", *lines[1:]])
    report = load([tmp_path / "in"], tmp_path / "a.duckdb")
    assert statuses(report) == ["refused"]
    faults = {fault.path: fault for fault in report.faults}
    assert faults.keys() == {str(folder / place) for folder in (root, ended, other)}
    assert {(fault.expected, fault.way_out) for fault in report.faults} == {("one content", "load only one of them")}
    for folder in (root, ended):
        assert faults[str(folder / place)].found.endswith(f"with different content from {other / place}")
    report = load([tmp_path / "in"], tmp_path / "a.duckdb", skip_broken=True)
    assert statuses(report) == ["loaded"]
    assert ask(tmp_path / "a.duckdb", "FROM scores") == []


@pytest.mark.slow
def test_names_in_files_of_the_layout_have_no_blanks_around_them(tmp_path: Path) -> None:
    for testset, (file, blank) in enumerate(itertools.product(("documents/en-de.docs", RATING), ("", " "))):
        path = small(tmp_path / "in", testset=f"t{testset}", humans={"mqm": ONES}) / file
        if file == RATING:
            path.write_text("Ash\tNone\n" * len(DOCUMENTS))
        path.write_text(path.read_text().replace("\t", f"{blank}\t{blank}"))
    assert load([tmp_path / "in"], tmp_path / "w.duckdb").faults == []
    for name, plain in itertools.product(("segments", "systems"), ("t0", "t2")):
        query = f"SELECT DISTINCT * EXCLUDE (testset) FROM {name} WHERE testset = $testset ORDER BY ALL"
        blank = f"t{int(plain[1]) + 1}"
        assert ask(tmp_path / "w.duckdb", query, testset=blank) == ask(tmp_path / "w.duckdb", query, testset=plain)


@pytest.mark.slow
def test_files_that_hold_no_scores_do_not_keep_the_others_out(tmp_path: Path) -> None:
    """Hidden ones are passed over in silence, and a pipe does not hang."""
    hidden, noted, piped = (
        small(tmp_path / "in", testset=name, metrics={"A-src": ONES}, humans={"mqm": ONES})
        for name in ("hidden", "noted", "piped")
    )
    (hidden / "metric-scores" / LP / "._A-src.seg.score").write_bytes(b"\0\5\x16")
    shutil.copytree(hidden / "human-scores", hidden / ".git" / "human-scores")
    (noted / "README").write_text("hello\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(piped / "metric-scores" / LP / "Pipe-src.seg.score")
    report = load([tmp_path / "in"], tmp_path / "a.duckdb")
    assert [(evalset.status, evalset.n_files) for evalset in report.evalsets] == [("loaded", 3)] * 3
    assert report.is_clean
    assert (str(noted / "README"), "not a known score format: text without columns") in report.skipped
    assert [path for path, _ in report.skipped if Path(path).is_relative_to(hidden)] == []


NOT_TAKEN: list[tuple[str, str]] = [
    ("README.md", f"{UNKNOWN_FORMAT}: {NO_NAMES}"),
    ("Human-Scores/en-de.mqm.seg.score", f"{UNKNOWN_FORMAT}: {NO_NAMES}"),
    ("metadata/en-de/Ash.jsonl", "metadata of the organisers' layout: holds no scores"),
    ("documents/en-de.txt", "expected documents/LP.docs"),
    ("documents/english.docs", "'english' is not a language pair such as en-de"),
    ("sources/en-de.xml", "expected a text file, .txt or .jsonl"),
    ("references/en-de.txt", "expected references/ with a name before .txt"),
    ("human-scores/en-de.mqm.seg.score.gz", "expected NAME.LEVEL.score with a level of sys, domain, doc or seg"),
    ("human-scores/en-de.mqm.seg.scores", "expected a file that ends in .score"),
    ("human-scores/en-de.mqm.word.score", "expected NAME.LEVEL.score with a level of sys, domain, doc or seg"),
    ("human-scores/en-de.mqm.sys.rating", "expected a file that ends in .score"),
    ("metric-scores/en-de/BLEU.seg.score", "'BLEU' is not a metric variant such as BLEU-refA"),
    ("metric-scores/BLEU-refA.seg.score", "expected metric-scores/LP/FILE"),
]


def test_files_that_are_not_taken_are_named_with_the_reason(tmp_path: Path) -> None:
    found = []
    for number, (place, _) in enumerate(NOT_TAKEN):
        file = tmp_path / str(number) / "t24" / place
        file.parent.mkdir(parents=True)
        file.write_text("Ash\t1\n")
        found.append((place, claim(file)))
    assert found == NOT_TAKEN


@together(
    ("place", "origin", "lp"),
    [
        ("documents/en-de.docs", "t24/documents/en-de.docs", "en-de"),
        ("sources/en-zh_CN.txt", "t24/sources/en-zh_CN.txt", "en-zh_CN"),
        ("references/en-de.refA.txt", "t24/references/en-de.refA.txt", "en-de"),
        ("system-outputs/en-de/GPT 5.5.txt", "t24/system-outputs/en-de/GPT 5.5.txt", "en-de"),
        ("human-scores/en-de.mqm.seg.rating", "t24/human-scores/en-de.mqm.seg.rating", "en-de"),
        ("metric-scores/ces_Latn---deu_Latn/A-src.sys.score", None, "cs-de"),
    ],
)
def test_a_claim_tells_what_a_file_is_wherever_it_lies(place: str, origin: str | None, lp: str, tmp_path: Path) -> None:
    found = claim(tmp_path / "t24" / place)
    assert isinstance(found, Claim)
    assert found.evalsets == (("t24", lp),)
    assert found.origin == (origin or f"t24/{place}")
    assert found.root == tmp_path / "t24"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
def test_a_file_name_that_is_no_utf8_keeps_its_own_test_set_out_alone(tmp_path: Path) -> None:
    for testset in ("t23", "t24"):
        small(tmp_path / "in", testset=testset, metrics={"A-src": ONES}, humans={"mqm": ONES})
    odd = os.fsencode(tmp_path / "in" / "t24" / "metric-scores" / LP) + b"/\xe4-src.seg.score"
    Path(os.fsdecode(odd)).write_text("Ash\t1\n")
    report = load([tmp_path / "in"], tmp_path / "a.duckdb")
    assert [(e.testset, e.status, e.n_broken) for e in report.evalsets] == [("t23", "loaded", 0), ("t24", "refused", 1)]
    (fault,) = report.faults
    assert (Path(fault.path).name, fault.found) == ("\\xe4-src.seg.score", "a name that is not UTF-8")
    assert ask(tmp_path / "a.duckdb", "SELECT DISTINCT testset FROM scores") == [("t23",)]
    report = load([tmp_path / "in"], tmp_path / "a.duckdb", skip_broken=True)
    assert [(e.status, e.n_broken) for e in report.evalsets] == [("unchanged", 0), ("loaded", 1)]
    assert statuses(load([tmp_path / "in"], tmp_path / "a.duckdb")) == ["unchanged", "refused"]


@pytest.mark.slow
def test_a_folder_that_cannot_be_read_keeps_its_own_test_set_out_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for testset in ("t23", "t24"):
        small(tmp_path / "in", testset=testset, metrics={"A-src": ONES}, humans={"mqm": ONES})
    closed = tmp_path / "in" / "t24" / "human-scores"
    walk = os.walk

    def walk_without(top: str, onerror: Callable[[OSError], None], followlinks: bool) -> Iterator[object]:
        """As for a user who may not look into the folder."""
        for folder, *names in walk(top, onerror=onerror, followlinks=followlinks):
            if Path(folder).resolve() == closed:
                onerror(PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder))
            else:
                yield folder, *names

    monkeypatch.setattr("warehouse.loading.files.os.walk", walk_without)
    monkeypatch.chdir(tmp_path)
    report = load([Path("in")], tmp_path / "a.duckdb")
    assert [(e.testset, e.status) for e in report.evalsets] == [("t23", "loaded"), ("t24", "refused")]
    (fault,) = report.faults
    assert (fault.path, fault.found) == (str(closed), "cannot be read: Permission denied")
