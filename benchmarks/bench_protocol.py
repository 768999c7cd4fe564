"""Speed and memory of whole questions, mostly on significance, in separate processes, computed and from the store.

    python -m benchmarks.bench_protocol              # all questions
    python -m benchmarks.bench_protocol compare      # those that contain one of these words

Uses WMT23 in the organisers' layout if there is a copy (`SCOREHOUSE_TEST_DATA`, or the folder `data` next to a shared
checkout), else a simulated shared task of one year; 1,000 draws, as many threads as there are cores. Each question is
also compared with a process that only imports what they all need.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness import MAXRSS_BYTES, ROOT, real_data

PROGRAM = (sys.executable, "-c", "from scorehouse.start import run; run()")


@dataclass(frozen=True)
class Question:
    """A command; target and stored_target: upper limits in seconds, computed and from the store, if any.

    most_mb: upper limit of memory, if any. is_kept: whether the answer is stored.
    """

    words: tuple[str, ...]
    target: float | None = None
    stored_target: float | None = None
    most_mb: float | None = None
    is_kept: bool = True


def questions(testset: str, lps: Sequence[str]) -> list[Question]:
    """The questions that are asked about a test set."""
    on = ("--on", testset, *(word for lp in lps for word in ("--lp", lp)))
    return [
        Question(("sql", "SELECT 1"), 0.4, is_kept=False),
        Question(("rank", testset, lps[1]), 1.0, most_mb=250, is_kept=False),
        Question(("protocol", "wmt23", *on)),
        Question(("protocol", "wmt23", *on, "--significance"), 60.0, 2.0),
        Question(("protocol", "wmt24", *on, "--significance"), 45.0, 2.0),
        Question(("protocol", "wmt21", *on, "--significance"), 600.0, 2.0),
        Question(("protocol", "wmt22", *on, "--significance"), 600.0, 2.0),
        Question(("compare", testset, lps[1], "-m", "spa"), 20.0, 2.0, most_mb=400),
        Question(("compare", testset, lps[1], "-m", "spa", "--test", "perm-both"), 60.0, 2.0, most_mb=400),
        Question(("compare", testset, lps[0], "-m", "spa(n=inf)"), None, 2.0, most_mb=400),
        Question(("compare", testset, lps[0], "-m", "acc_eq(by=item)"), None, 2.0, most_mb=400),
    ]


def load_scores(database: Path) -> None:
    """Load real or simulated scores."""
    from warehouse import load

    folder = real_data()
    if folder is None:
        from warehouse.simulation import simulate_shared_task, write_shared_task

        folder = database.parent / "task"
        write_shared_task(folder, simulate_shared_task(years=(2024,)))
    load([folder], database)


def run(command: Sequence[str]) -> tuple[float, float]:
    """Seconds and peak resident megabytes of one process.

    Raises RuntimeError: the process failed.
    """
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"`{' '.join(command)}` ended with {process.returncode}")
    return seconds, usage.ru_maxrss * MAXRSS_BYTES / 1024**2


def table(database: Path, asked: Sequence[Question]) -> str:
    """Every question computed and then answered from the store, as a Markdown table."""
    program = [*PROGRAM, "--db", str(database)]
    base_seconds, base_mb = run([sys.executable, "-c", "import duckdb, numpy, polars, typer"])
    lines = [
        "| command | seconds | target | times the imports alone | peak MB | target | of the imports' | from the store "
        "| target |",
        "|---|---|---|---|---|---|---|---|---|",
        f"| imports alone | {base_seconds:.2f} | | 1 | {base_mb:.0f} | | 1 | | |",
    ]
    for question in asked:
        computed, peak_mb = run([*program, *question.words, *(["--recompute"] if question.is_kept else [])])
        stored = f"{run([*program, *question.words])[0]:.1f}" if question.is_kept else ""
        target, most, stored_target = (
            "" if limit is None else f"≤ {limit:g}"
            for limit in (question.target, question.most_mb, question.stored_target)
        )
        cells = (
            f"`{' '.join(question.words)}`",
            f"{computed:.2f}",
            target,
            f"{computed / base_seconds:,.1f}",
            f"{peak_mb:.0f}",
            most,
            f"{peak_mb / base_mb:.1f}",
            stored,
            stored_target,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(words: Sequence[str]) -> None:
    """Print the table of the chosen questions."""
    with tempfile.TemporaryDirectory(prefix="scorehouse-benchmark-") as folder:
        database = Path(folder) / "loaded.duckdb"
        # In a process of its own: a process begins with its parent's peak memory as its own.
        code = (
            "import sys; from pathlib import Path; "
            "from benchmarks.bench_protocol import load_scores; load_scores(Path(sys.argv[1]))"
        )
        subprocess.run([sys.executable, "-c", code, str(database)], check=True, cwd=ROOT)
        testset, lps = ("wmt23", ["en-de", "he-en"]) if real_data() else ("sim24", ["en-de", "ja-en"])
        every = questions(testset, lps)
        chosen = [one for one in every if not words or any(word in " ".join(one.words) for word in words)]
        print(f"{testset} {' '.join(lps)}\n\n{table(database, chosen)}")


if __name__ == "__main__":
    main(sys.argv[1:])
