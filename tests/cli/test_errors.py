"""Bad questions and bad databases: one clear line on stderr, the right exit code, nothing changed."""

import contextlib
import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

from cli.ending import run_program
from cli.exit_codes import ExitCode
from scorehouse.start import run
from tests.cli.running import PROGRAM, Scorehouse, refused, unchanged
from tests.helpers import tiny_bytes, tiny_layout, together, with_views_of_before
from tests.sharing import written

RANK = ("rank", "sim24", "en-de")
ROOT = Path(__file__).parents[2]
INTERRUPTED = "interrupted; completed work was kept, unfinished work was discarded\n"


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("words", "hints"),
    [
        (("rank", "sim42", "en-de"), ["unknown test set 'sim42'", "did you mean", "'sim24'"]),
        (("rank", "sim24", "de-en"), ["unknown language pair 'de-en' for sim24", "did you mean"]),
        ((*RANK, "--human", "mqn"), ["unknown human score 'mqn'", "did you mean 'mqm'"]),
        ((*RANK, "--domain", "nws"), ["unknown domain 'nws'", "did you mean 'news'"]),
        ((*RANK, "--document", "news-en.1"), ["unknown document 'news-en.1'", "did you mean"]),
        ((*RANK, "--systems", "Dogwod"), ["unknown system 'Dogwod'", "did you mean 'Dogwood'"]),
        ((*RANK, "--metrics", "Kestral-24"), ["unknown metric 'Kestral-24'", "did you mean"]),
        ((*RANK, "--reference", "refC"), ["unknown reference 'refC'", "did you mean"]),
        ((*RANK, "-m", "pearsn"), ["unknown measure 'pearsn'", "did you mean 'pearson'"]),
        ((*RANK, "--segments", "5"), ["--segments '5'", "FIRST-LAST"]),
        ((*RANK, "--segments", "9-5"), ["--segments '9-5'", "the first segment, 9, is after the last, 5"]),
        ((*RANK, "--segments", "5000-6000"), ["no segment of sim24 en-de"]),
        ((*RANK, "--kind", "reference-based", "--kind", "reference-free"), ["--kind is given twice"]),
        ((*RANK, "--system-score", "average"), ["'average'", "submitted, mean, judged-mean"]),
        ((*RANK, "--domain", "news", "--system-score", "submitted"), ["a part of a test set", "--system-score mean"]),
        (("list", "metrics", "sim42"), ["unknown test set 'sim42'"]),
    ],
)
def test_a_question_with_a_name_or_value_that_there_is_not_ends_with_2(
    words: tuple[str, ...], hints: list[str], scorehouse: Scorehouse, default_database: Path
) -> None:
    with unchanged(default_database):
        refused(scorehouse(*words), 2, *hints)


QUESTIONS = [("list", "testsets"), RANK, ("sql", "SELECT 1"), ("sql", "--schema")]


def _executed(path: Path, statement: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute(statement)
    return path


def _no_warehouses(folder: Path) -> Iterator[tuple[object, str]]:
    """Paths that are no warehouse which this program reads, and part of the line that says so."""
    yield folder, "a folder, expected a warehouse file"
    yield "s3://bucket/a.duckdb", "a URL, expected a file on this machine"
    (folder / "notes.txt").write_text("Some notes, but no database.\n" * 500)
    yield folder / "notes.txt", "notes.txt: not a DuckDB database; name another file with --db"
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
        yield folder / "pipe", "not a regular file, expected a warehouse file"
    yield _executed(folder / "other.duckdb", "CREATE TABLE mine (x INTEGER)"), "not a scorehouse warehouse"
    cut = written(folder / "cut.duckdb", tiny_bytes()[:20_000])
    yield cut, "cut.duckdb: damaged or unreadable database"
    newer = "INSERT INTO internal.schema_migration VALUES (9999, '9999_future.sql', 'x', '2030-01-01')"
    said = "made by a newer scorehouse (it has migration 9999_future.sql"
    yield _executed(written(folder / "newer.duckdb", tiny_bytes()), newer), said


@pytest.mark.slow
@together("words", [*QUESTIONS, ("load", "task")])
def test_what_is_no_warehouse_is_told_as_such_and_left_alone(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    task = tiny_layout(folder / "task")
    for path, said in _no_warehouses(folder):
        file = path if isinstance(path, Path) and path.is_file() else None
        with contextlib.nullcontext() if file is None else unchanged(file):
            refused(scorehouse("--db", path, *(task if word == "task" else word for word in words)), 4, said)


@together("words", QUESTIONS)
def test_without_a_warehouse_the_way_to_one_is_reported(
    words: tuple[str, ...], scorehouse: Scorehouse, tmp_path: Path
) -> None:
    refused(
        scorehouse("--db", tmp_path / "a.duckdb", *words), 4, "a.duckdb", "no warehouse yet", "scorehouse load PATH"
    )
    assert not (tmp_path / "a.duckdb").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_warehouse_may_have_any_name_and_be_a_link(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_layout(tmp_path / "task")
    (tmp_path / "elsewhere").mkdir()
    Path("link.duckdb").symlink_to(Path("elsewhere") / "its")
    for name in ("link.duckdb", "md:x", ":memory:", "-x.duckdb", "it's", "two\nlines"):
        assert scorehouse("--db", name, "load", "task").code == 0, name
        assert scorehouse("--db", name, "list", "testsets", "--format", "json").json[0]["testset"] == "tiny24"
        assert scorehouse("--db", name, "sql", "SELECT 1 AS one", "--format", "json").json == [{"one": 1}]
        assert Path(name).is_file()
    assert Path("link.duckdb").is_symlink()
    assert [path.name for path in Path("elsewhere").iterdir()] == ["its"]


@pytest.mark.slow
def test_a_database_of_an_earlier_program_is_brought_up_to_date_by_whatever_opens_it(
    tmp_path: Path, scorehouse: Scorehouse
) -> None:
    tiny_database = written(tmp_path / "own.duckdb", tiny_bytes())
    with_views_of_before(tiny_database)
    words = [*PROGRAM, "--db", str(tiny_database), "list", "testsets", "--format", "json"]
    asked = [subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True) for _ in range(2)]
    assert asked[0].stderr.splitlines()[0] == f"{tiny_database} was brought up to date with views"
    assert "brought" not in asked[1].stderr
    assert json.loads(asked[0].stdout) == json.loads(asked[1].stdout)
    assert json.loads(asked[0].stdout)[0]["testset"] == "tiny24"
    assert scorehouse("--db", tiny_database, "sql", "FROM trends").code == 0


def test_migrate_is_answered_with_what_does_its_work(scorehouse: Scorehouse) -> None:
    refused(scorehouse("migrate"), 2, "any command brings the warehouse up to date")


@pytest.mark.slow
def test_a_locked_database_names_the_process_that_holds_it(scorehouse: Scorehouse, tmp_path: Path) -> None:
    own_database = written(tmp_path / "own.duckdb", tiny_bytes())
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
            refused(scorehouse("--db", own_database, *words), 4, "own.duckdb", f"locked by process {holder.pid}")
        holder.stdin.close()
        holder.wait()
    assert scorehouse("--db", own_database, "list", "testsets").code == 0


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
from scorehouse.start import run
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
from scorehouse.start import run
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
from scorehouse.start import run
run()
"""
    command = [sys.executable, "-c", program, "--db", str(database), "load", str(task)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTED)
    assert database.exists() is not is_new
    assert scorehouse("--db", database, "load", task).code == 0
    assert len(scorehouse("--db", database, "--format", "json", "list", "testsets").json) == (1 if is_new else 2)


def test_no_error_is_longer_than_a_screen(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.download.fetching.time.sleep", lambda seconds: None)  # between attempts
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


@together(
    "error",
    [
        MemoryError(),
        duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure"),
        ImportError("_duckdb.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        pl.exceptions.PanicException("memory allocation of 8 bytes failed"),
        pl.exceptions.ComputeError("Out of Memory Error: failed to pin block"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_memory_that_a_command_cannot_have_is_one_line(
    error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def program(**_: object) -> int:
        raise error

    assert run_program(program, []) == ExitCode.DATABASE
    assert capsys.readouterr().err.count("\n") == 1


def test_another_error_is_a_fault_of_the_program() -> None:
    def program(**_: object) -> int:
        raise RuntimeError("of another kind")

    with pytest.raises(RuntimeError, match="of another kind"):
        run_program(program, ["list", "testsets"])


def test_a_library_that_finds_no_room_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_room() -> int:
        raise ImportError("_polars.so: failed to map segment from shared object")

    monkeypatch.setattr("cli.main.exit_code", without_room)
    monkeypatch.setattr("sys.argv", ["scorehouse", "list"])
    with pytest.raises(SystemExit) as ended:
        run()
    assert (ended.value.code, capsys.readouterr().err) == (4, "error: out of memory\n")


def test_undefined_values_are_an_answer_and_an_empty_selection_is_none(scorehouse: Scorehouse) -> None:
    ran = scorehouse(*RANK, "--systems", "Dogwood", "-m", "pa", "--format", "csv")
    assert ran.code == 0, ran.err
    assert {row["value"] for row in csv.DictReader(ran.out.splitlines())} == {""}
    said = scorehouse(*RANK, "--systems", "Dogwood", "-m", "pa").out
    assert said.startswith("No metric has a value of pa: mqm has scores of one system alone.")
    refused(scorehouse(*RANK, "--metrics", "sentinel-*"), 2)
