"""Loading score files of every format there is, beside reading their lines in plain Python.

`python -m benchmarks.bench_loading` prints a Markdown table. All real files where SCOREHOUSE_TEST_DATA (or the folder
`data` beside a shared checkout) has them, else tables of a simulated shared task, one a metric.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.harness import Case, markdown_table

ROOT = Path(__file__).resolve().parents[1]


def work() -> Path:
    """A folder that the cases of one run share; its path is in the environment of their processes."""
    return Path(os.environ["SCOREHOUSE_BENCHMARK"])


def data() -> Path:
    """The folder of score files."""
    real = Path(os.environ.get("SCOREHOUSE_TEST_DATA") or ROOT / ".." / "shared" / "data")
    return real.resolve() if real.is_dir() else work() / "tables"


def make_work() -> None:
    """Tables of simulated metrics where there are no real files, and a warehouse that has all of it."""
    from warehouse import Warehouse, load

    if data() == work() / "tables":
        from warehouse.simulation import simulate_shared_task, write_shared_task

        write_shared_task(work() / "task", simulate_shared_task(years=(2023, 2024)))
        load([work() / "task"], work() / "simulated.duckdb")
        data().mkdir()
        with Warehouse.open(work() / "simulated.duckdb") as warehouse:
            scores = warehouse.sql("SELECT testset, lp, metric, system, segment AS seg, value AS score FROM scores")
        for (metric,), rows in scores.partition_by("metric", as_dict=True).items():
            rows.write_csv(data() / f"{metric}.csv")
    report = load([data()], work() / "loaded.duckdb")
    n_rows = sum(evalset.n_rows for evalset in report.evalsets)
    print(f"{n_rows:,} rows, {len(report.evalsets)} evaluation sets, {len(report.faults)} faults\n")


def nothing() -> None:
    """No preparation."""


def imported() -> Any:
    import polars  # noqa: F401

    from warehouse import load

    return load


def load_all(load: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert load([data()], Path(folder) / "fresh.duckdb").is_clean


def load_again(load: Any) -> None:
    report = load([data()], work() / "loaded.duckdb")
    assert {evalset.status for evalset in report.evalsets} == {"unchanged"}


def read_lines(_: None) -> int:
    """Cut every line of every file into cells, and keep nothing."""
    n = 0
    for path in sorted(path for path in data().rglob("*") if path.is_file()):
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for line in raw.decode("utf-8").splitlines():
            n += len(line.split("\t"))
    return n


PLAIN = "cut every line of every file into cells: nothing checked, joined or kept"
CASES = (
    Case(PLAIN, read_lines, nothing, repeats=1),
    Case(
        "load every file into a new warehouse", load_all, imported, target=15.0, baseline=PLAIN, repeats=2, most_mb=2000
    ),
    Case("load again, nothing changed", load_again, imported, baseline=PLAIN, repeats=2),
)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="scorehouse-benchmark-") as folder:
        os.environ["SCOREHOUSE_BENCHMARK"] = folder
        code = "from benchmarks.bench_loading import make_work; make_work()"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        print(markdown_table(CASES))


if __name__ == "__main__":
    main()
