"""`means` and `counts` of an export of 10^9 scores, simulated by counting: one partition is measured, and multiplied.

`python -m benchmarks.bench_scale` prints a Markdown table. The partition is an evaluation set of real WMT23 where
SCOREHOUSE_TEST_DATA (or the folder `data` beside a shared checkout) has it, else a simulated one. Evaluation sets do
not meet in these questions: time grows with their number, memory does not. The product is an estimate. Each partition
is opened, checked against the manifest and asked on its own; that files of an export this large come from a disk, and
not from memory as the one here does from its second run on, is not in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, Case, markdown_table, nothing, real_data

N_SCORES = 1_000_000_000


def _partition() -> tuple[str, str]:
    return ("wmt23", "en-de") if real_data() else ("sim24", "en-de")


def _folder() -> Path:
    return Path(os.environ["SCOREHOUSE_BENCHMARK"]) / "scores"


def make_export() -> None:
    """Load the test set and export one evaluation set of it."""
    from warehouse import load
    from warehouse.export import export
    from warehouse.simulation import simulate_shared_task, write_shared_task

    work = _folder().parent
    real = real_data()
    if real is None:
        write_shared_task(work / "task", simulate_shared_task(years=(2024,)))
    load([real or work / "task"], work / "loaded.duckdb")
    export(work / "loaded.duckdb", _folder(), "parquet", *_partition())


def n_rows() -> int:
    """Rows of segment scores in the partition."""
    from warehouse.export.parquet import read_manifest

    return read_manifest(_folder())[_partition()]["score"].rows


def ask(question: str, engine: str, _: Any) -> None:
    import metaeval

    found = getattr(metaeval, question)(_folder(), *_partition(), engine=engine)
    assert found.frame.height > 0


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="scorehouse-benchmark-") as folder:
        os.environ["SCOREHOUSE_BENCHMARK"] = folder
        # In a process of its own: a process begins with its parent's peak memory as its own.
        code = "from benchmarks.bench_scale import make_export; make_export()"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        rows = n_rows()
        n_partitions = -(-N_SCORES // rows)
        cases = [
            Case(f"`{question}` by {engine}", partial(ask, question, engine), nothing, scale=n_partitions, repeats=5)
            for question in ("means", "counts")
            for engine in ("polars", "duckdb")
        ]
        where = " ".join(_partition())
        print(f"One partition ({where}): {rows:,} rows of scores; {n_partitions:,} of it are 10^9 rows.\n")
        print(markdown_table(cases))
        print("\nSeconds are products, not measurements; memory is that of one partition.")


if __name__ == "__main__":
    main()
