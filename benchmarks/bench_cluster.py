"""Means, pair counts and resampling of an export of 10^8 simulated scores: by threads, on Dask, and on Spark.

`python -m benchmarks.bench_cluster [ROWS]` starts both clusters on this machine alone and prints a Markdown table: wall
seconds, the highest sum of the resident memory of all processes, starts of the clusters apart; and whether the answers
are the same. A few simulated partitions stand in all evaluation sets of the export, which are asked one by one.
"""

import hashlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import metaeval
from metaeval import kernels
from metaeval.kernels.resampling.system_tests import draw_signs, sign_flip_p_values
from queries.spark import of_all
from warehouse import load
from warehouse.export import export
from warehouse.export.exported import EvalsetKey
from warehouse.export.parquet import partition_file, read_manifest, write_manifest

LP = "en-de"
N_METRICS, N_SYSTEMS, N_SEGMENTS, N_DISTINCT, N_DRAWS = 60, 12, 2750, 4, 100
WORKERS = os.cpu_count() or 1


def write_export(folder: Path, n_rows: int) -> int:
    """Simulated segment scores, loaded and exported; the number of rows."""
    names = [f"metric-{number:02}" for number in range(N_METRICS)]
    kind = pl.Series("kind", ["human"] + ["metric"] * N_METRICS)
    scorers = pl.DataFrame({"kind": kind, "scorer": ["mqm", *names]})
    systems = pl.DataFrame({"system": [f"system-{number:02}" for number in range(N_SYSTEMS)]})
    segments = pl.DataFrame({"segment": np.arange(1, N_SEGMENTS + 1, dtype=np.int32)})
    frame = scorers.join(systems, how="cross", maintain_order="left_right")
    frame = frame.join(segments, how="cross", maintain_order="left_right").with_columns(lp=pl.lit(LP))
    rng = np.random.default_rng(0)
    for number in range(N_DISTINCT):
        quality = rng.normal(size=(N_SYSTEMS, 1)) / 3 + rng.normal(size=(N_SYSTEMS, N_SEGMENTS))
        noise = rng.normal(size=(N_METRICS + 1, N_SYSTEMS, N_SEGMENTS))
        values = quality + noise * np.linspace(0.5, 3, N_METRICS + 1)[:, np.newaxis, np.newaxis]
        values[0] = -np.round(np.abs(values[0]) * 2)
        table = folder / f"{_testset(number)}.parquet"
        frame.with_columns(value=values.ravel(), testset=pl.lit(_testset(number))).write_parquet(table)
        load([table], folder / "loaded.duckdb")
        table.unlink()
    export(folder / "loaded.duckdb", folder / "scores", "parquet")
    manifest = read_manifest(folder / "scores")
    n_sets = -(-n_rows // frame.height)
    for number in range(N_DISTINCT, n_sets):
        made = (_testset(number % N_DISTINCT), LP)
        manifest[_testset(number), LP] = manifest[made]
        for name in manifest[made]:
            copied = partition_file(folder / "scores", name, EvalsetKey(0, _testset(number), LP))
            copied.parent.mkdir(parents=True)
            copied.hardlink_to(partition_file(folder / "scores", name, EvalsetKey(0, *made)))
    write_manifest(folder / "scores", manifest)
    return n_sets * frame.height


def _testset(number: int) -> str:
    return f"sim{number:04}"


def means(folder: Path, testset: str, lp: str) -> pl.DataFrame:
    return metaeval.means(folder, testset, lp, human="mqm").frame


def counts(folder: Path, testset: str, lp: str) -> pl.DataFrame:
    return metaeval.counts(folder, testset, lp, human="mqm").frame


def spa(folder: Path, testset: str, lp: str) -> pl.DataFrame:
    """Soft pairwise accuracy of each metric, by sign flips that depend on the test set's name alone."""
    scores = pl.read_parquet(partition_file(folder, "score", EvalsetKey(0, testset, lp)))
    scores = scores.sort("kind", "scorer", "system", "segment")
    values = scores["value"].to_numpy().reshape(-1, N_SYSTEMS, N_SEGMENTS)
    seed = int.from_bytes(hashlib.sha256(testset.encode()).digest()[:8], "little")
    signs = draw_signs(np.random.default_rng(seed), N_DRAWS, N_SEGMENTS)
    p = sign_flip_p_values(values, np.ones(values.shape[1:], dtype=np.bool_), signs)
    names = scores["scorer"].unique(maintain_order=True).to_list()
    return pl.DataFrame({"metric": names[1:], "spa": kernels.soft_pairwise_accuracy(p[0], p[1:])})


@contextmanager
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as executor:  # Polars has threads of its own
        yield executor


@contextmanager
def dask() -> Iterator[Executor]:
    from distributed import Client

    with Client(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as client:
        yield client.get_executor()


@contextmanager
def spark() -> Iterator[Executor]:
    from queries.spark import SparkExecutor, spark_session

    session = spark_session(f"local[{WORKERS}]")
    with SparkExecutor(session) as executor:
        yield executor
    session.stop()


def _rounded(frame: pl.DataFrame) -> pl.DataFrame:
    """Polars adds up in no fixed order: the last digits of a mean vary."""
    return frame.with_columns(pl.col(pl.Float64).round(10))


def _resident() -> int:
    """Bytes of this process and all below it."""
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            pages[int(place.name)] = int((place / "statm").read_text().split()[1])
        except OSError:
            continue
    ours = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(pages.get(one, 0) for one in ours) * os.sysconf("SC_PAGE_SIZE")


def _measured(run: Callable[[], pl.DataFrame]) -> tuple[pl.DataFrame, float, int]:
    done, peak = threading.Event(), [0]

    def watch() -> None:
        while not done.wait(0.2):
            peak[0] = max(peak[0], _resident())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    start = time.perf_counter()
    found = run()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    return found, seconds, peak[0]


def main(n_rows: int) -> None:
    with tempfile.TemporaryDirectory(prefix="scorehouse-benchmark-") as made:
        print(f"{write_export(Path(made), n_rows):,} rows, {WORKERS} workers\n")
        folder = Path(made) / "scores"
        print("| question | by | start | seconds | memory | same answers |\n| --- | --- | ---: | ---: | ---: | --- |")
        first: dict[str, pl.DataFrame] = {}
        for cluster in (threads, dask, spark):
            start = time.perf_counter()
            with cluster() as executor:
                started = time.perf_counter() - start
                for question in (means, counts, spa):
                    found, seconds, peak = _measured(partial(of_all, folder, partial(question, folder), executor))
                    before = first.setdefault(question.__name__, found)
                    same = "yes" if _rounded(found).equals(_rounded(before)) else "no"
                    cells = (question.__name__, cluster.__name__, f"{started:.0f} s", f"{seconds:.0f}")
                    cells = (*cells, f"{peak / 1e9:.1f} GB")
                    print("|", " | ".join((*cells, same)), "|", flush=True)


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000)
