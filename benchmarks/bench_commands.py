"""CPU seconds of commands, the first time and again, on a copy of a warehouse.

    python -m benchmarks.bench_commands scores.duckdb              # all commands
    python -m benchmarks.bench_commands scores.duckdb rank plan    # only those that contain one of the words

CPU seconds are user and system time of the process and its children, which a busy machine changes little; wall seconds
are printed next to them. Each command runs on a warehouse without stored results, then once more, from compiled
modules. `wanted` is what two free cores should take, in wall seconds; for `--help` of a command and `rank`, in CPU
seconds.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cli", "metaeval", "queries", "warehouse", "migrations", "scorehouse")


@dataclass(frozen=True)
class Timed:
    """A command line without the program's name, and its targets in seconds: for the first run and for the second."""

    line: str
    wanted: float | None = None
    again: float | None = None


COMMANDS = (
    Timed("--help", 0.2),
    Timed("rank --help", 0.15),
    Timed("list", 0.25),
    Timed("compare wmt23 en-de MetricX-23 GEMBA-MQM -m spa", 2),
    Timed("rank wmt23 en-de", 0.8),
    Timed("rank wmt23 en-de -m pearson", 0.8),
    Timed("trend all en-de", 1.5),
    Timed("trend all en-de --within", 2),
    Timed("trend all all -m spa --by best", 30),
    Timed("report wmt23 en-de,zh-en -o REPORT.html", 12, 1.5),
    Timed("protocol wmt20", 3),
    Timed("protocol --matrix", 10),
    Timed("plan wmt23 en-de MetricX-23 COMET", 8),
    Timed("sample wmt23 en-de --evaluate", 3),
    Timed("compare wmt20 en-cs -m spa --test perm-inputs", 15),
    Timed("compare wmt23 en-de -m spa"),
    Timed("rank wmt23 en-de --chart RANK.svg"),
    Timed("trend all en-de --chart TREND.svg"),
    Timed("advise all en-de"),
    Timed("systems wmt23 en-de GPT4-5shot ONLINE-W"),
    Timed("deltas all en-de COMET --difference 0.02"),
)


def measured(words: list[str], warehouse: Path, folder: Path) -> tuple[float, float, int]:
    """CPU and wall seconds of a run of the program, and its exit code."""
    program = Path(sys.executable).parent / "scorehouse"
    start = time.perf_counter()
    with (folder / "out").open("w") as out:
        child = subprocess.Popen(
            [program, *words],
            cwd=folder,
            env={**os.environ, "SCOREHOUSE_DB": str(warehouse), "COLUMNS": "100"},
            stdout=out,
            stderr=out,
        )
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, child.returncode


def main(warehouse: Path, words: list[str]) -> None:
    for package in PACKAGES:
        compileall.compile_dir(ROOT / package, quiet=1)
    print("| command | wanted | CPU first | CPU again | wall first | wall again | first line |")
    print("|---|---|---|---|---|---|---|")
    for timed in COMMANDS:
        if words and not any(word in timed.line for word in words):
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            copy = folder / "scores.duckdb"
            shutil.copy(warehouse, copy)
            with duckdb.connect(str(copy)) as connection:
                connection.execute("DELETE FROM internal.result")
            first, first_wall, code = measured(timed.line.split(), copy, folder)
            line = (folder / "out").read_text().splitlines()[:1]
            again, again_wall, _ = measured(timed.line.split(), copy, folder)
        wanted = " / ".join(f"{one:g}" for one in (timed.wanted, timed.again) if one is not None)
        cells = (f"{one:.2f}" for one in (first, again, first_wall, again_wall))
        failed = f" (exit {code})" if code else ""
        print(f"| `{timed.line}`{failed} | {wanted} | {' | '.join(cells)} | {''.join(line)} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
