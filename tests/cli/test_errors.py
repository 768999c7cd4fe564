"""Bad questions and bad databases: one clear line on stderr, the right exit code, nothing changed."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from cli.ending import run_program
from cli.exit_codes import ExitCode
from tests.cli.running import Ran, Scorehouse, refused, unchanged
from tests.helpers import DOCUMENTS, tiny_bytes, tiny_layout, together, with_views_of_before
from tests.sharing import written
from warehouse.export.mtme import ScoreTable, write_evalset

RANK = ("rank", "sim24", "en-de")
ROOT = Path(__file__).parents[2]
INTERRUPTED = "interrupted; what was finished stays, nothing half-done counts\n"


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("words", "hints"),
    [
        (("rank", "sim42", "en-de"), ["unknown test set 'sim42'", "did you mean", "'sim24'"]),
        (("rank", "sim24", "de-en"), ["unknown language pair 'de-en' for sim24", "did you mean"]),
        (("rank", "sim24", "zz-zz"), ["unknown language pair 'zz-zz'", "available: cs-uk, en-de, ja-en"]),
        ((*RANK, "--human", "mqn"), ["unknown human score 'mqn'", "did you mean 'mqm'"]),
        ((*RANK, "--domain", "nws"), ["unknown domain 'nws'", "did you mean 'news'"]),
        ((*RANK, "--document", "news-en.1"), ["unknown document 'news-en.1'", "did you mean"]),
        ((*RANK, "--systems", "Dogwod"), ["unknown system 'Dogwod'", "did you mean 'Dogwood'"]),
        ((*RANK, "--metrics", "Kestral-24"), ["unknown metric 'Kestral-24'", "did you mean"]),
        ((*RANK, "--reference", "refC"), ["unknown reference 'refC'", "did you mean"]),
        ((*RANK, "-m", "pearsn"), ["unknown measure 'pearsn'", "did you mean 'pearson'"]),
        ((*RANK, "-m", "spa(m=5)"), ["unknown parameter 'm' for measure 'spa'", "available: binary, n"]),
        ((*RANK, "-m", "spa(n=none)"), ["n=none", "a whole number of at least 1, or inf"]),
        ((*RANK, "-m", "acc_eq(by=segment)"), ["by=segment", "none, item, system, doc, domain"]),
        ((*RANK, "-m", "tau_b(by=item, epsilon=-1)"), ["epsilon=-1", "a number of at least 0"]),
        ((*RANK, "-m", "tau_c(by=item, epsilon=1)"), ["tau_c is defined for epsilon = 0 only"]),
        ((*RANK, "-m", "spa(n=1, n=2)"), ["'n' is given twice"]),
        ((*RANK, "-m", "spa(n)"), ["found 'n', expected parameter=value"]),
        ((*RANK, "-m", "spa)"), ["expected NAME or NAME(parameter=value, ...)"]),
        ((*RANK, "--segments", "5"), ["--segments '5'", "FIRST-LAST"]),
        ((*RANK, "--segments", "9-5"), ["--segments '9-5'", "the first segment, 9, is after the last, 5"]),
        ((*RANK, "--segments", "0-5"), ["--segments '0-5'", "FIRST-LAST"]),
        ((*RANK, "--segments", "5000-6000"), ["select no segment of sim24 en-de"]),
        ((*RANK, "--kind", "reference-based", "--kind", "reference-free"), ["exclude each other"]),
        ((*RANK, "--system-score", "average"), ["'average'", "submitted, mean, judged-mean"]),
        ((*RANK, "--domain", "news", "--system-score", "submitted"), ["a part of a test set", "--system-score mean"]),
        (("list", "metrics", "sim42"), ["unknown test set 'sim42'"]),
        (("list", "metrics", "sim24", "de-en"), ["unknown language pair 'de-en'"]),
        (("counts", "sim24", "en-de", "--epsilon", "nan"), ["epsilon"]),
        (("counts", "sim24", "en-de", "--epsilon", "inf"), ["--epsilon inf", "expected a finite number"]),
    ],
)
def test_a_question_with_a_name_or_value_that_there_is_not_ends_with_2(
    words: tuple[str, ...], hints: list[str], scorehouse: Scorehouse, default_database: Path
) -> None:
    with unchanged(default_database):
        refused(scorehouse(*words), 2, *hints)


@pytest.fixture
def own_database(default_database: Path, tmp_path: Path) -> Path:
    """A warehouse of the test's own, to be damaged."""
    return shutil.copy(default_database, tmp_path / "own.duckdb")


@pytest.fixture
def tiny_database(tmp_path: Path) -> Path:
    """A small warehouse of the test's own, which is refused whatever it holds."""
    return written(tmp_path / "own.duckdb", tiny_bytes())


QUESTIONS = [("list", "testsets"), RANK, ("sql", "SELECT 1"), ("sql", "--schema")]


def _each(*values: object) -> list[Any]:
    """Every way of asking with the first of some values; the others with one that reads, and mostly one that writes."""
    ways: list[tuple[str, ...]] = [*QUESTIONS, ("load", "task")]
    why = "every way of asking with every one: 1 second"
    return [
        pytest.param(
            value, words, marks=() if number == 0 or place in (number, len(ways) - number) else pytest.mark.long(why)
        )
        for number, value in enumerate(values)
        for place, words in enumerate(ways)
    ]


def _ask(scorehouse: Scorehouse, words: tuple[str, ...], database: Path) -> Ran:
    return scorehouse("--db", database, *words)


@together("words", QUESTIONS)
def test_without_a_warehouse_the_way_to_one_is_reported(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path
) -> None:
    refused(_ask(scorehouse, words, tmp_path / "a.duckdb"), 4, "a.duckdb", "no warehouse yet", "scorehouse load PATH")
    assert not (tmp_path / "a.duckdb").exists()


@together("words", QUESTIONS)
def test_a_file_that_is_no_database_is_told_as_such(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Some notes, but no database.\n" * 500)
    with unchanged(file):
        refused(_ask(scorehouse, words, file), 4, "notes.txt", "not a DuckDB database")


@pytest.mark.parametrize("words", [*QUESTIONS, ("load", ".")])
def test_a_database_of_sqlite_is_told_as_none_of_duckdb(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny_layout(tmp_path / "layout") if words[0] == "load" else tmp_path)
    file = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")
    with unchanged(file):
        refused(_ask(scorehouse, words, file), 4, "other.db", "not a DuckDB database", "--db")


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
@pytest.mark.parametrize(("name", "words"), _each("device", "pipe", "link to a pipe"))
def test_a_device_or_a_pipe_is_no_warehouse_and_is_not_waited_for(
    name: str, words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if words[0] == "load":
        tiny_layout(tmp_path / "task")
    if name == "device":
        path = Path(os.devnull)
    else:
        os.mkfifo(tmp_path / "pipe")
        path = tmp_path / "pipe"
        if name == "link to a pipe":
            path = tmp_path / "link"
            path.symlink_to(tmp_path / "pipe")
    refused(_ask(scorehouse, words, path), 4, str(path), "not a regular file, expected a warehouse file")


@pytest.mark.parametrize(
    ("head", "words"), _each(b"\0" * 8 + b"DUCX", b"\0" * 8 + b"DUC", b"\0" * 8 + b"duck", b"DUCK")
)
def test_a_file_with_another_magic_number_is_no_database(
    head: bytes, words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if words[0] == "load":
        tiny_layout(tmp_path / "task")
    file = tmp_path / "odd.duckdb"
    file.write_bytes(head + b"\0" * (8000 if len(head) == 12 else 0))
    with unchanged(file):
        refused(_ask(scorehouse, words, file), 4, "odd.duckdb", "not a DuckDB database", "--db")


@pytest.mark.slow
def test_a_link_to_a_warehouse_is_as_good_as_the_warehouse_and_stays_a_link(
    scorehouse: Scorehouse, own_database: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.duckdb"
    link.symlink_to(own_database)
    for words in QUESTIONS:
        assert _ask(scorehouse, words, link).code == 0
    assert _ask(scorehouse, ("load", str(tiny_layout(tmp_path / "task"))), link).code == 0
    assert link.is_symlink()
    assert _ask(scorehouse, ("list", "lps", "tiny24"), own_database).code == 0
    assert [path.name for path in link.parent.iterdir()] == ["link.duckdb"]


@pytest.mark.long("loads: 1 second")
def test_a_link_to_nothing_becomes_a_warehouse_where_it_leads_if_that_can_be(
    scorehouse: Scorehouse, tmp_path: Path
) -> None:
    task = str(tiny_layout(tmp_path / "task"))
    link, target = tmp_path / "link.duckdb", tmp_path / "target.duckdb"
    link.symlink_to(target)
    refused(_ask(scorehouse, ("list", "testsets"), link), 4, "no warehouse yet")
    assert _ask(scorehouse, ("load", task), link).code == 0
    assert link.is_symlink()
    assert _ask(scorehouse, ("list", "testsets"), target).code == 0
    lost = tmp_path / "lost.duckdb"
    lost.symlink_to(tmp_path / "absent" / "target.duckdb")
    refused(_ask(scorehouse, ("load", task), lost), 4, "lost.duckdb: cannot be opened: No such file or directory")


@pytest.mark.parametrize(("name", "words"), _each("s3://bucket/a.duckdb", "https://localhost/a.duckdb", "gs:/b/a"))
def test_a_url_is_no_place_for_a_warehouse(
    name: str, words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if words[0] == "load":
        tiny_layout(tmp_path / "task")
    refused(scorehouse("--db", name, *words), 4, "a URL, expected a file on this machine")
    assert [path.name for path in tmp_path.iterdir()] == (["task"] if words[0] == "load" else [])


@pytest.mark.every(3)
@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
@pytest.mark.parametrize(
    "name",
    [
        *("md:x", ":memory:", "-x.duckdb", "it's", "ß中.duckdb", "two\nlines"),
        *(
            pytest.param(name, marks=pytest.mark.long("a warehouse for each: 1 second"))
            for name in ("sqlite:x.db", "postgres:x", "a;b", "%41")
        ),
    ],
)
def test_a_warehouse_may_have_any_name(
    name: str, scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "task" / "tiny24"
    write_evalset(root, "en-de", documents=DOCUMENTS, metrics={"A-src": ScoreTable(["Ash"], sys=np.ones(1))})
    ran = scorehouse("--db", name, "load", "task")
    assert ran.code == 0, ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["task", name])
    assert scorehouse("--db", name, "list", "testsets", "--format", "json").json[0]["testset"] == "tiny24"
    assert scorehouse("--db", name, "sql", "SELECT 1 AS one", "--format", "json").json == [{"one": 1}]


@together("words", QUESTIONS)
def test_a_folder_is_no_warehouse(words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path) -> None:
    refused(_ask(scorehouse, words, tmp_path), 4, "a folder, expected a warehouse file")


@pytest.mark.every(3)
@pytest.mark.parametrize("words", [*QUESTIONS, ("load", ".")])
def test_somebody_elses_database_is_left_alone(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny_layout(tmp_path / "layout") if words[0] == "load" else tmp_path)
    file = tmp_path / "other.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")
    with unchanged(file):
        refused(_ask(scorehouse, words, file), 4, "other.duckdb", "not a scorehouse warehouse", "--db")


@pytest.mark.every(3)
@pytest.mark.parametrize("words", [("list", "testsets"), RANK, ("sql", "SELECT sum(value) FROM scores")])
@pytest.mark.parametrize("share", [0.0001, 0.3, 0.9])
def test_a_truncated_database_is_told_as_damaged(
    words: tuple[str, ...], share: float, scorehouse: Scorehouse, own_database: Path
) -> None:
    data = own_database.read_bytes()
    own_database.write_bytes(data[: int(share * len(data))])
    with unchanged(own_database):
        refused(_ask(scorehouse, words, own_database), 4, "own.duckdb")


@together("words", QUESTIONS)
def test_a_database_of_a_newer_program_is_refused(
    words: tuple[str, ...], scorehouse: Scorehouse, tiny_database: Path
) -> None:
    with duckdb.connect(str(tiny_database)) as connection:
        connection.execute(
            "INSERT OR IGNORE INTO internal.schema_migration VALUES (9999, '9999_future.sql', 'x', '2030-01-01')"
        )
    with unchanged(tiny_database):
        line = refused(_ask(scorehouse, words, tiny_database), 4, "made by a newer scorehouse", "9999_future.sql")
    assert "upgrade scorehouse" in line


def test_a_database_of_an_earlier_program_is_brought_up_to_date_by_whatever_opens_it(
    tiny_database: Path, scorehouse: Scorehouse
) -> None:
    with_views_of_before(tiny_database)
    words = [
        sys.executable,
        "-c",
        "from cli.start import run; run()",
        "--db",
        str(tiny_database),
        "list",
        "testsets",
        "--format",
        "json",
    ]
    asked = [subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True) for _ in range(2)]
    assert asked[0].stderr.splitlines()[0] == f"{tiny_database}: brought up to date with views"
    assert "brought" not in asked[1].stderr
    assert json.loads(asked[0].stdout) == json.loads(asked[1].stdout)
    assert json.loads(asked[0].stdout)[0]["testset"] == "tiny24"
    assert scorehouse("--db", tiny_database, "sql", "FROM trends").code == 0


def test_migrate_is_answered_with_what_does_its_work(scorehouse: Scorehouse) -> None:
    refused(scorehouse("migrate"), 2, "any command brings the warehouse up to date")


def test_a_locked_database_names_the_process_that_holds_it(scorehouse: Scorehouse, own_database: Path) -> None:
    program = f"""
import duckdb, sys
with duckdb.connect({str(own_database)!r}):
    print("locked", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == b"locked\n"
        for words in QUESTIONS:
            refused(_ask(scorehouse, words, own_database), 4, "own.duckdb", f"locked by process {holder.pid}")
        holder.stdin.close()
        holder.wait()
    assert _ask(scorehouse, ("list", "testsets"), own_database).code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("module", ["cli.main", "cli.questions", "warehouse"])
def test_ctrl_c_while_the_program_starts_is_one_quiet_line(
    module: str, simulated_database: Path, tmp_path: Path
) -> None:
    program = f"""
import signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from cli.start import run
run()
"""
    command = [sys.executable, "-c", program, "--db", str(simulated_database), "list", "testsets"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("interrupted")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_during_a_query_is_heard_at_once(simulated_database: Path) -> None:
    query = "SELECT count(*) FROM scores AS a, scores AS b, scores AS c WHERE sin(a.value + b.value + c.value) > 2"
    program = """
import os, signal, sys, threading

import queries.adhoc

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

plain = queries.adhoc._watch

def watched(*words):
    threading.Timer(0.5, interrupt).start()
    plain(*words)

queries.adhoc._watch = watched
from cli.start import run
run()
"""
    command = [sys.executable, "-c", program, "--db", str(simulated_database), "sql", query, "--timeout", "600"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == INTERRUPTED


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("is_new", [True, pytest.param(False, marks=pytest.mark.long("loads twice: 3 seconds"))])
def test_ctrl_c_during_a_load_keeps_what_is_finished_alone(
    is_new: bool, scorehouse: Scorehouse, tmp_path: Path
) -> None:
    task, database = tmp_path / "task", tmp_path / "some.duckdb"
    tiny_layout(task, testset="tiny1")
    if not is_new:
        assert scorehouse("--db", database, "load", task).code == 0
        tiny_layout(task, testset="tiny2")
    program = """
import contextlib, os, signal

import cli.commands.load

@contextlib.contextmanager
def interrupting(quiet):
    left = [1]
    def advance(what, done, total):
        if done > 0 and left.pop():
            left.append(0)
            os.kill(os.getpid(), signal.SIGINT)
    yield advance

cli.commands.load.progress = interrupting
from cli.start import run
run()
"""
    command = [sys.executable, "-c", program, "--db", str(database), "load", str(task)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTED)
    assert database.exists() is not is_new
    assert scorehouse("--db", database, "load", task).code == 0
    assert len(scorehouse("--db", database, "--format", "json", "list", "testsets").json) == (1 if is_new else 2)


def test_what_cannot_be_read_by_this_user_is_reported(scorehouse: Scorehouse, tmp_path: Path) -> None:
    database = tmp_path / "loop.duckdb"
    database.symlink_to(database)
    refused(_ask(scorehouse, ("list", "testsets"), database), 4, "loop.duckdb")


def test_no_error_is_longer_than_a_screen(scorehouse: Scorehouse, tmp_path: Path) -> None:
    long = "x" * 100_000
    calls = (
        ("sql", f'SELECT "{long}" FROM testsets'),
        ("rank", long, "en-de"),
        ("rank", "sim24", long),
        ("list", long),
    )
    for words in (*calls, ("export", tmp_path / "out", "--format", long), ("download", "--url", f"http://[::{long}")):
        ran = scorehouse(*words)
        assert ran.code in (2, 3)
        assert len(ran.err) < 2100
        assert len(ran.notes) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")], ids=repr)
def test_an_interruption_is_one_line(error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(**_: object) -> int:
        raise error

    assert run_program(interrupted, ["rank"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == INTERRUPTED


def test_memory_that_a_command_cannot_have_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def program(**_: object) -> int:
        raise MemoryError

    assert run_program(program, ["list", "testsets"]) == ExitCode.DATABASE
    assert capsys.readouterr().err == "error: out of memory\n"


def test_another_error_is_a_fault_of_the_program() -> None:
    def program(**_: object) -> int:
        raise RuntimeError("of another kind")

    with pytest.raises(RuntimeError, match="of another kind"):
        run_program(program, ["list", "testsets"])
