"""Hostile queries, each in the process that `queries.adhoc` makes for it: time, memory and disk are measured."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from queries import adhoc
from queries.adhoc import answer
from tests.queries.hostile import BOMBS, OUTSIDE, SAMPLE, TIME
from warehouse import LimitError, QuestionError

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="how much a process takes is told otherwise there"),
    pytest.mark.usefixtures("own_processes"),
]

ROOT = Path(__file__).parents[2]
SECRET = "42424242"
TIMEOUT, MEMORY, SPILL = 1.0, 300, 100  # seconds, megabytes
SHORT = 0.3  # seconds for what takes time alone
PATIENCE = 30.0  # seconds for what is refused, however slow the machine is
LATE = 5.0  # seconds after its time in which a query is stopped on a busy machine; those here would run for minutes
OVER = 300  # megabytes: 170 for libraries, and what is taken between two looks of a busy machine; bombs want thousands
_MEGABYTE = 1_000_000
_RUN = """
import json, resource, sys, time
from pathlib import Path
import queries.adhoc
from queries.adhoc import answer
from warehouse import WarehouseError

database, memory, spill, *forked = sys.argv[1:]
if forked:
    import tests.forking
    queries.adhoc.subprocess = tests.forking
watch = queries.adhoc._watch

def timed(process, reading, asked):
    while reading.is_alive() and not reading.received:
        time.sleep(0.005)
    global begun
    begun = time.monotonic()
    watch(process, reading, asked)

queries.adhoc._watch = timed
for query, timeout in json.loads(sys.stdin.read()):
    begun = time.monotonic()
    try:
        found = answer(Path(database), query, timeout=timeout, memory=memory, spill=spill)
        told = ["answered", str(found)]
    except WarehouseError as error:
        told = [type(error).__name__, str(error)]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps([query, *told, time.monotonic() - begun, peak]), flush=True)
"""


def _room(folder: Path) -> int:
    """Bytes of the files below a folder, which come and go."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def _attack(
    queries: Sequence[str], database: Path, tmp_path: Path, *, is_forked: bool = False
) -> list[tuple[str, str, str]]:
    """Query, end and message of each; asserts that none takes more than it may, and that none leaves anything.

    is_forked: processes begin as copies (see tests/forking.py), whose memory is not looked at.
    """
    timeouts = [PATIENCE if query in OUTSIDE else SHORT if query in TIME else TIMEOUT for query in queries]
    before = database.read_bytes()
    spilled = Path(tempfile.mkdtemp())  # of a short name: it may hold a socket
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret.csv").write_text(f"a\n{SECRET}\n")
    places = {"secret": tmp_path / "secret.csv", "folder": tmp_path / "folder"}
    most, ended = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not ended.wait(0.02):
            most = max(most, _room(spilled))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        ran = subprocess.run(
            [sys.executable, "-c", _RUN, str(database), f"{MEMORY}MB", f"{SPILL}MB", *["forked"] * is_forked],
            input=json.dumps(
                [[query.format(**places), timeout] for query, timeout in zip(queries, timeouts, strict=True)]
            ),
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(spilled), "HOME": str(tmp_path / "folder")},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        ended.set()
        watching.join()
    assert ran.stderr == ""
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(found) == len(queries)
    for (query, _, message, seconds, peak), timeout in zip(found, timeouts, strict=True):
        assert seconds <= timeout + LATE, (query[:200], message)
        assert peak <= (MEMORY + OVER) * _MEGABYTE, (query[:200], message)
        assert SECRET not in message.replace(str(tmp_path), ""), query[:200]
        assert "\n" not in message or message.startswith("shape:"), query[:200]
    assert most <= SPILL * _MEGABYTE
    spilled.rmdir()  # an error where anything is left
    assert list((tmp_path / "folder").iterdir()) == []
    assert database.read_bytes() == before
    return [(query, end, message) for query, end, message, _, _ in found]


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert len({*OUTSIDE, *BOMBS}) == len(OUTSIDE) + len(BOMBS) >= 120


@pytest.mark.slow
def test_a_sample_of_hostile_queries_keeps_its_limits(simulated_database: Path, tmp_path: Path) -> None:
    found = _attack(SAMPLE, simulated_database, tmp_path)
    assert [end for _, end, _ in found] == ["LimitError"] * 6 + ["QuestionError"]


@pytest.mark.long("what takes time, memory and disk: 4 minutes")
def test_what_takes_time_memory_and_disk_is_stopped_at_its_limits(simulated_database: Path, tmp_path: Path) -> None:
    found = _attack(BOMBS, simulated_database, tmp_path)
    assert {end for _, end, _ in found} <= {"answered", "LimitError", "QuestionError"}
    assert sum(end == "LimitError" for _, end, _ in found) > len(BOMBS) // 2


def test_what_reaches_outside_is_refused(simulated_database: Path, tmp_path: Path, in_full: bool) -> None:
    """A fifth of them in each run."""
    is_forked = not in_full and sys.platform == "linux"
    chosen = OUTSIDE if in_full else OUTSIDE[::5]
    for query, end, message in _attack(chosen, simulated_database, tmp_path, is_forked=is_forked):
        assert end == "QuestionError", (query, end, message)
        assert "automatically install" not in message or "disabled through configuration" in message


def test_a_size_that_is_none_is_refused(simulated_database: Path) -> None:
    for words in ({"memory": "plenty"}, {"spill": "1 byte"}, {"memory": "-1GB"}):
        with pytest.raises(QuestionError, match=next(iter(words))):
            answer(simulated_database, "SELECT 1", **words)


@pytest.mark.slow
def test_a_killed_parent_takes_the_query_with_it(simulated_database: Path, tmp_path: Path) -> None:
    """The process of the query writes its number where the parent reads nothing of it."""
    program = (
        "import sys, subprocess, threading, time, os\nimport queries.adhoc as a\nfrom pathlib import Path\n"
        "made = subprocess.Popen\n"
        "def noted(*args, **options):\n"
        "    process = made(*args, **options)\n"
        "    print(process.pid, flush=True)\n"
        "    threading.Timer(1.5, os._exit, (0,)).start()\n"
        "    return process\n"
        "a.subprocess.Popen = noted\n"
        "a.answer(Path(sys.argv[1]), 'SELECT sum(sin(i)) FROM range(1000000000000) AS t(i)')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(simulated_database)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    process = Path("/proc") / ran.stdout.strip()
    ended = threading.Event()
    for _ in range(200):
        if not process.exists() or process.joinpath("stat").read_text().split()[2] == "Z":
            ended.set()
            break
        threading.Event().wait(0.05)
    assert ended.is_set()
    assert ran.stderr == ""


@pytest.mark.slow
def test_a_process_started_ahead_answers_the_next_query_and_no_other(simulated_database: Path) -> None:
    adhoc.start_ahead()
    adhoc.start_ahead()
    ((process, _),) = adhoc._AHEAD
    assert answer(simulated_database, "SELECT 1 AS one").item() == 1
    assert process.returncode is not None
    assert adhoc._AHEAD == []
    assert answer(simulated_database, "SELECT 2 AS two").item() == 2


def test_a_process_started_ahead_that_nobody_asks_is_ended() -> None:
    adhoc.start_ahead()
    ((process, complaints),) = adhoc._AHEAD
    adhoc._end_ahead()
    assert (process.returncode, complaints.closed, adhoc._AHEAD) == (-signal.SIGKILL, True, [])


def test_a_process_that_is_asked_nothing_ends_in_silence() -> None:
    process, complaints = adhoc._started()
    with complaints, process:
        assert process.communicate() == (b"", None)
        complaints.seek(0)
        assert complaints.read() == b""


def test_an_answer_is_the_same_through_the_pipe(simulated_database: Path) -> None:
    query = """
        SELECT 1::TINYINT AS a, 2.5::FLOAT AS b, 'ä' AS c, NULL AS d, DATE '2024-02-29' AS e,
          TIMESTAMP '2024-02-29 12:00:00.123456' AS f, TIME '12:00:01' AS g, '\\x00\\xff'::BLOB AS h,
          [1, NULL] AS i, {'x': [1.5], 'y': NULL} AS j, MAP {'k': 1} AS k, 'a'::ENUM ('a', 'b') AS l,
          'nan'::DOUBLE AS m, true AS n, 1.25::DECIMAL(10, 2) AS o, sum(2::HUGEINT) AS p
    """
    found = answer(simulated_database, query)
    row = found.row(0, named=True)
    assert (row["a"], row["b"], row["c"], row["d"], row["h"], row["n"]) == (1, 2.5, "ä", None, b"\x00\xff", True)
    assert (row["i"], row["j"], row["l"], row["o"], row["p"]) == ([1, None], {"x": [1.5], "y": None}, "a", 1.25, 2)
    assert (str(row["e"]), str(row["f"]), str(row["g"])) == ("2024-02-29", "2024-02-29 12:00:00.123456", "12:00:01")
    assert row["m"] != row["m"]


@pytest.mark.slow
@pytest.mark.usefixtures("own_processes")
def test_the_least_memory_is_enough_for_a_small_question(simulated_database: Path) -> None:
    query = "SELECT current_setting('memory_limit') AS memory"
    assert answer(simulated_database, query, memory="1MiB").item() == "1.0 MiB"


@pytest.mark.slow
def test_an_answer_that_is_larger_than_its_share_is_stopped(simulated_database: Path) -> None:
    with pytest.raises(LimitError, match="ran out of memory"):
        answer(simulated_database, "SELECT i, i + 1 FROM range(4000000) AS t(i)", memory="50MB")
