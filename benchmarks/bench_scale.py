"""CPU seconds and memory on growing data: one large evaluation set, one segment with many systems, many small sets.

`python -m benchmarks.bench_scale FOLDER [CASE ...]` writes simulated scores to the folder, runs the program in separate
processes, and prints a Markdown table. Cases: large (10^5 ... 2.4 * 10^7 scores in one evaluation set), wide (one
segment, 500 systems), few (10 small evaluation sets), many (1,000); or one of these with a number of scores, such as
large=1e6. The last column has the CPU time of a command in proportion to that of the same command on few.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

LARGE = (200, 60, 2000)  # metrics, systems, segments: 2.4 * 10^7 scores
WIDE = (20, 500, 1)
SMALL = (8, 6, 50)
_INTO = "de cs ru zh ja uk hi is es fr it pt nl pl sv fi et lv lt ro bg el tr ko vi"
LPS = [f"en-{code}" for code in _INTO.split()]
FEW = 10
OF_SMALL = (
    ("rank", "all"),
    ("rank", "all", "-m", "pa"),
    ("counts", "all"),
    ("means", "all"),
    ("trend", "all"),
    ("list",),
)
QUESTIONS = {
    "large": (
        ("rank", "all", "-m", "spa", "-m", "acc_eq(by=item)"),
        ("compare", "sim00", "en-de", "-m", "pa", "--resamples", "1000"),
        ("means", "all"),
    ),
    "wide": (("rank", "all", "-m", "spa"), ("rank", "all", "-m", "acc_eq(by=item)")),
    "few": OF_SMALL,
    "many": OF_SMALL,
}


MOST_ROWS = 2_000_000  # of one file


def write_tables(folder: Path, shape: tuple[int, int, int], n_sets: int, most_rows: int = MOST_ROWS) -> int:
    """Write simulated scores of evaluation sets as tables of at most so many rows, and return the number of rows."""
    n_metrics, n_systems, n_segments = shape
    scorers = ["mqm", *(f"metric-{number:03}" for number in range(n_metrics))]
    rng = np.random.default_rng(0)
    parts = []
    for number in range(n_sets):
        quality = rng.normal(size=(n_systems, 1)) / 3 + rng.normal(size=(n_systems, n_segments))
        noise = rng.normal(size=(len(scorers), n_systems, n_segments))
        values = quality + noise * np.linspace(0.5, 3, len(scorers))[:, np.newaxis, np.newaxis]
        values[0] = -np.round(np.abs(values[0]) * 2)
        scorer, system, segment = np.indices(values.shape, dtype=np.int32).reshape(3, -1)
        columns = {"scorer": scorer, "system": system, "segment": segment + 1, "value": values.ravel()}
        parts.append(
            pl.DataFrame(columns).with_columns(
                testset=pl.lit(f"sim{number // len(LPS):02}"), lp=pl.lit(LPS[number % len(LPS)])
            )
        )
    names = pl.Series([f"system-{number:03}" for number in range(n_systems)])
    frame = pl.concat(parts)
    for number in range(0, frame.height, most_rows):
        rows = frame.slice(number, most_rows)
        rows.with_columns(
            kind=pl.when(pl.col("scorer") == 0).then(pl.lit("human")).otherwise(pl.lit("metric")),
            scorer=pl.Series(scorers).gather(rows["scorer"]),
            system=names.gather(rows["system"]),
        ).write_parquet(folder / f"scores-{number // most_rows:03}.parquet")
    return frame.height


def run(*words: str | Path) -> tuple[float, float, float, int]:
    """CPU seconds, seconds, peak GB and exit code of the program."""
    code = "import re, sys; from pathlib import Path; from cli.main import exit_code; code = exit_code(sys.argv[1:]); "
    code += "status = Path('/proc/self/status').read_text(); "  # ru_maxrss counts what this process had when it forked
    code += "sys.stderr.write('\\n' + re.search(r'VmHWM:\\s+([0-9]+)', status)[1]); sys.exit(code)"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with Path(os.devnull).open("w") as nothing:
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, words)], stdout=nothing, stderr=subprocess.PIPE, text=True
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        print(done.stderr[-500:], file=sys.stderr)
    return cpu, time.perf_counter() - start, float(done.stderr.split()[-1]) * 1024 / 1e9, done.returncode


def measure(folder: Path, case: str, n_scores: float | None, of_few: dict[str, float]) -> dict[str, float]:
    """Simulate, load, export and ask; one line each. of_few: CPU seconds of few; returns those of this case."""
    shapes = {"large": (LARGE, 1), "wide": (WIDE, 1), "few": (SMALL, FEW), "many": (SMALL, 1000)}
    shape, n_sets = shapes[case]
    if n_scores is not None and case == "large":
        share = (n_scores / (shape[0] * shape[1] * shape[2])) ** (1 / 3)
        shape = tuple(max(3, round(size * share)) for size in shape)  # type: ignore[assignment]
    if n_scores is not None and case == "many":
        n_sets = max(1, round(n_scores / (shape[0] * shape[1] * shape[2])))
    place = folder / f"{case}-{shape[0]}-{shape[1]}-{shape[2]}-{n_sets}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "files").mkdir(exist_ok=True)
    n_rows = write_tables(place / "files", shape, n_sets)
    database = place / "scores.duckdb"
    jobs: list[tuple[str | Path, ...]] = [("load", place / "files"), ("export", place / "exported", "-q")]
    jobs += [(*words, "--recompute") if words[0] in ("compare", "trend") else words for words in QUESTIONS[case]]
    jobs += [("rank", "all", "--from", place / "exported")] if case in ("few", "many") else []
    found: dict[str, float] = {}
    for words in jobs:
        named = " ".join(str(word) for word in words if not isinstance(word, Path))
        more = () if words[0] in ("load", "export") else ("--format", "csv")
        where = () if "--from" in words else ("--db", database)
        cpu, seconds, peak, code = run(*words, *more, *where)
        found[named] = cpu
        cells = (f"{case}, {n_rows:,} rows", named, f"{cpu:.1f}", f"{seconds:.1f}", f"{peak:.2f}", str(code))
        ratio = f"{cpu / of_few[named]:.1f}" if named in of_few else ""
        print("|", " | ".join((*cells, ratio)), "|", flush=True)
    return found


def main() -> None:
    folder, *cases = sys.argv[1:]
    print("| scores | what | CPU s | s | GB | exit code | times few |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    of_few: dict[str, float] = {}
    for case in cases or ["large=1e5", "large=1e6", "large=1e7", "large", "wide", "few", "many"]:
        name, _, number = case.partition("=")
        found = measure(Path(folder), name, float(number) if number else None, of_few)
        of_few = found if name == "few" else of_few


if __name__ == "__main__":
    main()
