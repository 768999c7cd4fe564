"""Loads that do not come to their end, or meet another process: nothing half there, and the next load works."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import LP, tiny_bytes, tiny_layout
from tests.sharing import written
from tests.warehouse.building import ask, edited, empty_warehouse, held, nothing_hangs, small, statuses
from warehouse import SchemaError, Warehouse, load
from warehouse.export.mtme import ScoreTable, write_evalset
from warehouse.writing import transaction

FINE = "metric-scores/en-de/Fine-src.seg.score"
ROOT = Path(__file__).parents[3]

LOADER = """
import sys
from pathlib import Path
from warehouse import load

def progress(what, done, total):
    print(what, flush=True)

print("begun", flush=True)
load([Path(sys.argv[1])], Path(sys.argv[2]), progress=progress)
print("ended", flush=True)
"""


def _process(program: str, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, words)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def big_layout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation set that takes a moment to write: 100,000 scores."""
    folder = tmp_path_factory.mktemp("big")
    n_segments, systems = 2000, [f"S{n:02}" for n in range(10)]
    values = np.random.default_rng(0).normal(size=(len(systems), n_segments)).round(3)
    write_evalset(
        folder / "big24",
        LP,
        documents=[("news", f"d{n // 10}") for n in range(n_segments)],
        metrics={f"M{n}-src": ScoreTable(systems, seg=values + n) for n in range(5)},
    )
    return folder / "big24"


def _tiny(path: Path) -> Path:
    """A warehouse that has loaded the tiny layout."""
    return written(path, tiny_bytes())


def _is_empty_or_whole(database: Path, n_scores: int) -> None:
    if not database.exists() or database.stat().st_size == 0:
        return
    try:
        with Warehouse.open(database) as warehouse:
            scores, sources, evalsets = (
                warehouse.rows(f"SELECT count(*) FROM {view}")[0][0] for view in ("scores", "sources", "evalsets")
            )
    except SchemaError as error:  # killed before or between the migrations of a new file
        assert "a warehouse without scores yet" in str(error)  # noqa: PT017
        return
    nothing_hangs(database)
    assert (scores, sources, evalsets) in ((0, 0, 0), (n_scores, 6, 1))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of other systems")
def test_a_load_killed_while_it_writes_leaves_what_was_there(big_layout: Path, tmp_path: Path) -> None:
    database = _tiny(tmp_path / "a.duckdb")
    human = "FROM human_scores WHERE testset = 'tiny24' ORDER BY ALL"
    before = ask(database, human)
    with _process(LOADER, big_layout, database) as process:
        deadline = time.monotonic() + 20
        journal = database.with_name(database.name + ".wal")
        while not (journal.exists() and journal.stat().st_size > 0) and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        process.kill()
    nothing_hangs(database)
    assert ask(database, human) == before
    testsets = {name for (name,) in ask(database, "SELECT testset FROM testsets")}
    assert testsets in ({"tiny24"}, {"tiny24", "big24"})
    assert ask(database, "SELECT count(*) FROM scores") == [(100_075 if "big24" in testsets else 75,)]
    assert statuses(load([big_layout], database)) in (["loaded"], ["unchanged"])
    assert ask(database, "SELECT count(*) FROM scores WHERE testset = 'big24'") == [(100_000,)]


@pytest.mark.slow
def test_an_interruption_at_any_moment_leaves_all_as_it_was(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in")
    database = empty_warehouse(tmp_path / "a.duckdb")
    moments: list[str] = []
    load([root], database, progress=lambda what, *_: moments.append(what))
    edited(root / FINE, lambda lines: ["Ash\t0.125", *lines[1:]])
    before = database.read_bytes()
    writing = moments.index(f"tiny24 {LP}: writing")
    for stop in (0, writing - 1, writing):
        countdown = iter(range(stop, -1, -1))

        def interrupt(*_: object, countdown=countdown) -> None:  # type: ignore[no-untyped-def]
            if next(countdown) == 0:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            load([root], database, progress=interrupt)
        assert database.read_bytes() == before
    assert statuses(load([root], database)) == ["replaced"]


@pytest.mark.slow
def test_an_interrupted_first_load_leaves_no_file(
    in_full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first and the last step of the transaction; with --all between them, too."""
    root = tiny_layout(tmp_path / "in")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    for step in ("write_evalsets", *(["record_sources"] if in_full else []), "check_written"):
        with monkeypatch.context() as patch:
            patch.setattr(transaction, step, interrupted)
            with pytest.raises(KeyboardInterrupt):
                load([root], tmp_path / "a.duckdb")
        assert not list(tmp_path.glob("a.duckdb*"))
    assert statuses(load([root], tmp_path / "a.duckdb")) == ["loaded"]


HOLDER = """
import sys
from pathlib import Path
import duckdb
from warehouse.database.updating import writing

with duckdb.connect() as connection, writing(Path(sys.argv[1]), connection):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_while_another_process_writes_the_file_one_line_names_that_process(tmp_path: Path) -> None:
    database = _tiny(tmp_path / "a.duckdb")
    with _process(HOLDER, database) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(SchemaError) as told:
            Warehouse.open(database)
        assert "\n" not in str(told.value)
        assert str(told.value).startswith(f"{database}: locked by process {holder.pid}")
        assert str(told.value).endswith("; try again when it has finished")
        holder.stdin.close()
    assert len(ask(database, "FROM human_scores")) == 20


@pytest.mark.slow
def test_a_load_waits_for_another_process_that_writes(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in")
    database = _tiny(tmp_path / "a.duckdb")
    edited(root / FINE, lambda lines: ["Ash\t0.125", *lines[1:]])
    begun: list[subprocess.Popen[str]] = []

    def lock_before_writing(what: str, *_: object) -> None:
        if what.endswith("writing") and not begun:
            holder = _process(HOLDER.replace("sys.stdin.read()", "__import__('time').sleep(0.5)"), database)
            assert holder.stdout is not None
            holder.stdout.readline()
            begun.append(holder)

    assert statuses(load([root], database, progress=lock_before_writing)) == ["replaced"]
    begun[0].communicate()
    assert begun[0].returncode == 0


@pytest.mark.slow
def test_what_another_load_brings_between_reading_and_writing_is_seen(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in", facts=False)
    other = small(tmp_path / "other", metrics={"Other-src": ScoreTable(["Ash"], seg=np.ones((1, 5)))})
    (other / "testset.toml").unlink()
    database = empty_warehouse(tmp_path / "a.duckdb")
    begun: list[str] = []

    def load_the_other(what: str, *_: object) -> None:
        if what.endswith("writing") and not begun:
            begun.append(what)
            assert statuses(load([other], database)) == ["loaded"]

    report = load([root], database, progress=load_the_other)
    (fault,) = report.faults
    assert str(fault).startswith(f"{database}: another process changed tiny24 {LP} in the meantime")
    assert statuses(report) == ["refused"]
    assert statuses(load([root], database)) == ["added"]
    assert len(ask(database, "FROM scores WHERE metric = 'Other-src'")) == 5
    assert len(held(database)["human_scores"]) == 20
    assert ask(database, "SELECT count(*) FROM evalset") == [(1,)]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may write every folder")
def test_a_folder_that_may_not_be_written_is_reported(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in")
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(SchemaError, match=r"a\.duckdb"):
        load([root], tmp_path / "closed" / "a.duckdb")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of other systems")
@pytest.mark.parametrize(
    ("word", "delay"),
    [
        ("writing", 0.1),
        *(
            pytest.param(*moment, marks=pytest.mark.long("further moments"))
            for moment in (("reading files", 0.0), ("begun", 0.0), ("writing", 0.25))
        ),
    ],
)
def test_a_killed_first_load_leaves_nothing_half_there(
    word: str, delay: float, big_layout: Path, tmp_path: Path
) -> None:
    database = tmp_path / "a.duckdb"
    with _process(LOADER, big_layout, database) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if word in line:
                break
        time.sleep(delay)
        process.kill()
    _is_empty_or_whole(database, 100_000)
    report = load([big_layout], database)
    assert report.faults == []
    assert statuses(report) in (["loaded"], ["unchanged"])
    assert ask(database, "SELECT count(*), count(DISTINCT vector_id), sum(segment) FROM score") == [
        (100_000, 50, 50 * 2000 * 2001 // 2)
    ]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits are of other systems")
def test_a_full_disk_is_reported_and_leaves_all_as_it_was(big_layout: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk's: half of what is there, since the file has free blocks."""
    database = _tiny(tmp_path / "a.duckdb")
    before = held(database)
    limit = database.stat().st_size // 2
    program = f"""
import resource, sys
from cli.main import exit_code
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.exit(exit_code(["--db", sys.argv[2], "load", sys.argv[1]]))
"""
    with _process(program, big_layout, database) as process:
        out, said = process.communicate()
    assert (process.returncode, out) == (4, "")
    assert said.splitlines()[-1].startswith(f"error: {database}: ")
    assert "Traceback" not in said
    assert held(database) == before
