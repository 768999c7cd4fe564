"""Loading score files of every format there is, beside reading their lines in plain Python; and two very large ones.

The large ones are made here: a table of one's own with 11 million rows, and a file of the organisers' layout with 20
million lines, half a gigabyte each. Their baseline is the table as a Polars frame, which checks and joins nothing.

`python -m benchmarks.bench_loading` prints a Markdown table. All real files where SCOREHOUSE_TEST_DATA (or the folder
`data` beside a shared checkout) has them, else tables of a simulated shared task, one a metric.
"""

from __future__ import annotations

import gzip
import itertools
import os
import random
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


def make_table() -> Path:
    """A long table of 500 MB: 20 metrics, 50 systems, 11,000 segments."""
    rng = random.Random(0)
    path = work() / "large.tsv"
    with path.open("w", encoding="utf-8") as file:
        file.write("testset\tlp\tmetric\tsystem\tsegment\tscore\n")
        for metric, system in itertools.product(range(20), range(50)):
            of = f"large24\ten-de\tMetric{metric}\tSystem{system:03d}"
            file.writelines(f"{of}\t{segment}\t{rng.random():.6f}\n" for segment in range(1, 11_001))
    return path


def make_layout() -> Path:
    """The organisers' layout with one metric of 100 systems and 200,000 segments: 420 MB."""
    rng = random.Random(0)
    root = work() / "layout" / "large25"
    (root / "documents").mkdir(parents=True)
    (root / "metric-scores" / "en-de").mkdir(parents=True)
    documents = "".join(f"news\tdocument-{segment // 20}\n" for segment in range(200_000))
    (root / "documents" / "en-de.docs").write_text(documents, encoding="utf-8")
    with (root / "metric-scores" / "en-de" / "Metric-src.seg.score").open("w", encoding="utf-8") as file:
        for system in range(100):
            file.writelines(f"System{system:03d}-x\t{rng.random():.6f}\n" for _ in range(200_000))
    return root


def loading(path: Path) -> Any:
    imported()
    return path


def large_table() -> Any:
    return loading(work() / "large.tsv")


def large_layout() -> Any:
    return loading(work() / "layout" / "large25")


def load_one(path: Path) -> None:
    from warehouse import load

    with tempfile.TemporaryDirectory() as folder:
        assert load([path], Path(folder) / "fresh.duckdb").is_clean


def read_frame(path: Path) -> None:
    """The table as a frame, with columns of texts and numbers."""
    import polars as pl

    assert pl.read_csv(path, separator="\t").height == 11_000_000


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
FRAME = "read a table of one's own, 500 MB, as a Polars frame"
CASES = (
    Case(PLAIN, read_lines, nothing, repeats=1),
    Case(
        "load every file into a new warehouse", load_all, imported, target=15.0, baseline=PLAIN, repeats=2, most_mb=1000
    ),
    Case("load again, nothing changed", load_again, imported, baseline=PLAIN, repeats=2),
    Case(FRAME, read_frame, large_table, repeats=1),
    Case("load that table", load_one, large_table, baseline=FRAME, repeats=1, most_mb=1000),
    Case("load a file of the layout, 420 MB", load_one, large_layout, baseline=FRAME, repeats=1, most_mb=1000),
)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="scorehouse-benchmark-") as folder:
        os.environ["SCOREHOUSE_BENCHMARK"] = folder
        code = "from benchmarks.bench_loading import make_work; make_work()"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        make_table()
        make_layout()
        print(markdown_table(CASES))


if __name__ == "__main__":
    main()
