"""Attacks on processes: killed at moments spread over their life, disks that are full, closed standard streams."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import migrations
from benchmarks.attacking import LP, WORST, Ending, ending, layout, scores
from cli.main import exit_code
from warehouse import load, migrate
from warehouse.export.mtme import write_evalset

_PROGRAM = (sys.executable, "-c", "from cli.start import run; run()")
_KILLS = 20


def killed(moments: int, *words: object) -> Iterator[bool]:
    """Run a command again and again and kill it at moments spread over its life; whether it came to its end.

    The first run, which tells how long that is, is not killed.
    """
    command = [*_PROGRAM, *map(str, words), "-q"]
    seconds = []
    for number in range(moments + 1):
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if number:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(seconds[0] * (0.3 + 0.7 * number / moments))
            process.send_signal(signal.SIGKILL)
            yield process.wait() == 0
        else:
            process.wait()
            seconds.append(time.perf_counter() - started)
            yield True


def ran(*words: object) -> tuple[int, str]:
    """Run a command in this process: its exit code and what it wrote to stdout."""
    written = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(io.StringIO()):
        code = exit_code([str(word) for word in words])
        written.flush()
    return code, written.buffer.getvalue().decode()  # type: ignore[attr-defined]


def killed_loads(folder: Path) -> Iterator[bool]:
    task, database = layout(folder / "layout", 2000, 20), folder / "w.duckdb"
    load([task], folder / "whole.duckdb")
    expected = scores(folder / "whole.duckdb")
    for number, _ in enumerate(killed(_KILLS, "load", task, "--db", database)):
        if number:
            load([task], database)
            yield scores(database) == expected
        for path in folder.glob("w.duckdb*"):
            path.unlink()


def killed_changes(folder: Path, original: Path, *words: object) -> Iterator[bool]:
    """A command that changes a warehouse is killed: nothing or all of it is done, and the next run does the rest."""
    database = folder / "w.duckdb"
    before = scores(original)
    shutil.copy(original, database)
    assert ran(*words, "--db", database, "-q")[0] == 0
    after = scores(database)
    assert after != before
    shutil.copy(original, database)
    for number, _ in enumerate(killed(_KILLS, *words, "--db", database)):
        if number:
            found = ending(lambda: scores(database))
            again = ran(*words, "--db", database, "-q")[0]
            is_done = found.value == after and again in (0, 2)  # 2: nothing is left to take away
            yield is_done or (found.value == before and again == 0 and scores(database) == after)
        for path in folder.glob("w.duckdb*"):
            path.unlink()
        shutil.copy(original, database)


def loaded(folder: Path, *, has_texts: bool = False) -> Path:
    """A warehouse with one evaluation set."""
    n = 200 if has_texts else 1000
    task = layout(folder / "layout", n, 20)
    if has_texts:
        rng = random.Random(0)
        words = ["ein", "kleines", "Haus", "steht", "am", "See", "und", "wartet"]
        lines = [[" ".join(rng.choices(words, k=12)) for _ in range(n)] for _ in range(5)]
        documents = [("news", f"d{number // 10}") for number in range(n)]
        outputs = dict(zip("ABC", lines[2:], strict=True))
        write_evalset(task, LP, documents=documents, sources=lines[0], references={"refA": lines[1]}, outputs=outputs)
    load([task], folder / "original.duckdb")
    return folder / "original.duckdb"


def killed_computes(folder: Path) -> Iterator[bool]:
    return killed_changes(folder, loaded(folder, has_texts=True), "compute", "bleu", "chrf", "task24", LP)


def killed_adds(folder: Path) -> Iterator[bool]:
    original = loaded(folder)
    own = folder / f"{LP}.Own.seg.score"
    values = np.random.default_rng(1).normal(size=3000).round(3).tolist()
    own.write_text("".join(f"{'ABC'[n // 1000]}\t{value}\n" for n, value in enumerate(values)))
    words = ("--metric", "Own", "--reference-free", "--testset", "task24")
    return killed_changes(folder, original, "add", own, *words)


def killed_unloads(folder: Path) -> Iterator[bool]:
    return killed_changes(folder, loaded(folder), "unload", "task24", LP)


def killed_comparisons(folder: Path) -> Iterator[bool]:
    """Stored results are there whole or not at all: the next run gives the same answer, and the scores stay."""
    original, database = loaded(folder), folder / "w.duckdb"
    words = ("compare", "task24", LP, "-m", "pa", "--draws", "2000", "--format", "json", "--db", database)
    shutil.copy(original, database)
    expected, before = ran(*words, "--fresh", "-q"), scores(original)
    shutil.copy(original, database)
    for number, _ in enumerate(killed(_KILLS, *words)):
        if number:
            yield ran(*words, "-q") == expected and scores(database) == before
        for path in folder.glob("w.duckdb*"):
            path.unlink()
        shutil.copy(original, database)


def killed_exports(folder: Path) -> Iterator[bool]:
    """What a killed export left is refused, or it had come to its end and brings everything."""
    original = loaded(folder)
    expected = scores(original)
    for form in ("parquet", "mtme"):
        out = folder / form
        for number, is_done in enumerate(killed(_KILLS // 2, "export", out, "--format", form, "--db", original)):
            back = folder / f"back-{form}-{number}.duckdb"
            found = ending(lambda: load([out], back)) if out.exists() and any(out.iterdir()) else Ending()  # noqa: B023
            report = found.value
            if number:
                is_whole = report is not None and report.is_clean and scores(back) == expected
                is_nothing = report is None or (not report.is_clean and not report.evalsets)
                yield not found.is_traceback and (is_whole or (is_nothing and not is_done))
            shutil.rmtree(out, ignore_errors=True)


def killed_migrations(folder: Path) -> Iterator[bool]:
    """A warehouse without the last two migrations: `migrate` again brings it up to date, with the scores as before."""
    files, known = migrations.sql_files(), migrations.sql_files
    original, database = folder / "original.duckdb", folder / "w.duckdb"
    task = layout(folder / "layout", 1000, 20)
    migrations.sql_files = lambda: files[:-2]
    try:
        load([task], original)
        expected = scores(original)
    finally:
        migrations.sql_files = known
    shutil.copy(original, database)
    for number, _ in enumerate(killed(_KILLS, "migrate", "--db", database)):
        if number:
            yield not ending(lambda: migrate(database)).is_traceback and scores(database) == expected
        for path in folder.glob("w.duckdb*"):
            path.unlink()
        shutil.copy(original, database)


def left_folders(folder: Path) -> Iterator[bool]:
    """Killed loads leave temporary folders; the next run removes them."""
    temporary = folder / "tmp"
    temporary.mkdir()
    task, database = layout(folder / "layout", 2000, 20), folder / "w.duckdb"
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(temporary)
    try:
        for number, _ in enumerate(killed(5, "load", task, "--db", database)):
            subprocess.run([*_PROGRAM, "list", "testsets", "--db", database], capture_output=True, check=False)
            if number:
                yield list(temporary.iterdir()) == []
            for path in folder.glob("w.duckdb*"):
                path.unlink()
    finally:
        os.environ.pop("TMPDIR") if before is None else os.environ.update(TMPDIR=before)


def full_disks(folder: Path, n_tries: int) -> Iterator[bool]:
    """The system lets files grow to a drawn size and no further, as a disk that fills up: refused, then done."""
    import resource

    task, rng, original = layout(folder / "layout", 400, 5), random.Random(7), folder / "original.duckdb"
    load([task], original)
    expected, most = scores(original), original.stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for number in range(n_tries):
        database, out = folder / f"w{number}.duckdb", folder / f"out{number}"
        words = ("load", task, "--db", database) if number % 2 else ("export", out, "--db", original)
        resource.setrlimit(resource.RLIMIT_FSIZE, (rng.randrange(1, most), limits[1]))
        try:
            code, _ = ran(*words, "-q")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        ran(*words, "-q")
        if not number % 2:
            load([out], database)
        yield code in (0, 4) and scores(database) == expected
        shutil.rmtree(out, ignore_errors=True)


def closed_streams(folder: Path) -> Iterator[bool]:
    """Standard output closed, with the others too, full, or its reader gone: a line at most, exit code 4, or 0."""
    original = loaded(folder)
    closings = {">&-": 4, "<&- >&- 2>&-": 4, ">/dev/full": 4, "| true": 0}
    commands = ("list testsets", f"rank task24 {LP} -m pa", "sql 'SELECT 1'", "sql --schema", "--help", "--version")
    for command in commands:
        for closing, expected in closings.items():
            if closing == ">/dev/full" and not Path("/dev/full").exists():
                continue
            program = f"'{sys.executable}' -c 'from cli.start import run; run()'"
            words = f"{program} {command}" + ("" if command.startswith("--") else f" -q --db '{original}'")
            shell = ["bash", "-o", "pipefail", "-c", f"{words} {closing}"]
            done = subprocess.run(shell, capture_output=True, text=True, check=False)
            lines = done.stderr.splitlines()
            yield done.returncode == expected and len(lines) <= 1 and "Traceback" not in done.stderr


_BOMBER = """
import json, resource, sys, time
from pathlib import Path
import queries.adhoc
from queries.adhoc import answer
from warehouse import WarehouseError

watch = queries.adhoc._watch

def timed(process, reading, asked):
    while reading.is_alive() and not reading.received:
        time.sleep(0.005)
    global begun
    begun = time.monotonic()
    watch(process, reading, asked)

queries.adhoc._watch = timed
for query in json.loads(sys.stdin.read()):
    begun = time.monotonic()
    try:
        answer(Path(sys.argv[1]), query, timeout=float(sys.argv[2]), memory="300MB", spill="100MB")
        told = "answered"
    except WarehouseError as error:
        told = type(error).__name__
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps([told, time.monotonic() - begun, peak]), flush=True)
"""


def hostile_queries(folder: Path) -> Iterator[bool]:
    """What reaches outside is refused; what takes time, memory or disk ends near its limits (1 s, 200 MB)."""
    import json

    from tests.queries.hostile import BOMBS, OUTSIDE

    original, most = loaded(folder), (0.0, 0)
    (folder / "secret.csv").write_text("a\n42424242\n")
    places = {"secret": folder / "secret.csv", "folder": folder}
    before = original.read_bytes()
    for corpus, timeout, ends in ((OUTSIDE, 30.0, {"QuestionError"}), (BOMBS, 1.0, None)):
        words = [sys.executable, "-c", _BOMBER, str(original), str(timeout)]
        asked = json.dumps([query.format(**places) for query in corpus])
        done = subprocess.run(words, input=asked, capture_output=True, text=True, check=False)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        for told, seconds, peak in found:
            most = max(most[0], seconds), max(most[1], peak)
            allowed = ends or {"answered", "LimitError", "QuestionError"}
            yield told in allowed and seconds <= timeout + 1 and peak <= 500_000_000
        yield from (False for _ in range(len(corpus) - len(found)))
    yield original.read_bytes() == before
    WORST[hostile_queries.__name__] = f"{most[0]:.1f} s, {most[1] / 1e6:.0f} MB (limits 1 s, 300 MB)"
