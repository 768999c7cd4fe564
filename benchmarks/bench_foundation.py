"""Load, list, rank, pair counts three ways and `--help`, beside a plain-Python baseline written here.

`python -m benchmarks.bench_foundation` prints a Markdown table. Real WMT23 where SCOREHOUSE_TEST_DATA (or the folder
`data` beside a shared checkout) has it, else a simulated shared task of one year.
"""

from __future__ import annotations

import csv
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.harness import Case, markdown_table

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = (sys.executable, "-c", "from cli.start import run; run()")
Scores = dict[str, list[float]]  # system -> a score for each segment, NaN where missing


def real_data() -> Path | None:
    """The folder of WMT23 in the organisers' layout, if it is there."""
    named = os.environ.get("SCOREHOUSE_TEST_DATA") or str(ROOT / ".." / "shared" / "data")
    folder = Path(named) / "mt-metrics-eval-v2" / "wmt23"
    return folder.resolve() if folder.is_dir() else None


@cache
def _work() -> Path:
    """A folder that the cases of one run share; its path is in the environment of their processes."""
    return Path(os.environ["SCOREHOUSE_BENCHMARK"])


def _data() -> tuple[Path, str, str]:
    """Score files, and the evaluation set that is ranked."""
    real = real_data()
    return (real, "wmt23", "he-en") if real else (_work() / "task", "sim24", "en-de")


def make_work() -> None:
    """Simulated files where there are no real ones, and a warehouse for the cases that only ask."""
    from warehouse import load

    if real_data() is None:
        from warehouse.simulation import simulate_shared_task, write_shared_task

        write_shared_task(_work() / "task", simulate_shared_task(years=(2024,)))
    report = load([_data()[0]], _work() / "loaded.duckdb")
    n_rows = sum(evalset.n_rows for evalset in report.evalsets)
    size = (_work() / "loaded.duckdb").stat().st_size
    print(f"{n_rows:,} rows of scores and texts, {size:,} bytes; {_bytes_a_score(size):.1f} bytes a score row\n")


def _bytes_a_score(size: int) -> float:
    from warehouse import Warehouse

    with Warehouse.open(_work() / "loaded.duckdb") as warehouse:
        ((n,),) = warehouse.rows("SELECT count(*) FROM score")
    return size / int(n)


# ---------------------------------------------------------------- the program


def nothing() -> None:
    """No preparation."""


def program(*words: str) -> None:
    """Run a command as a process of its own, on the loaded warehouse."""
    command = [*PROGRAM, "--db", str(_work() / "loaded.duckdb"), *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)


def run_help(_: None) -> None:
    subprocess.run([*PROGRAM, "--help"], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def run_list(_: None) -> None:
    program("list", "testsets")


def run_rank(_: None) -> None:
    program("rank", *_data()[1:], "-m", "spa", "-m", "acc_eq(by=item)")


def run_load_again(_: None) -> None:
    program("load", str(_data()[0]))


def imported_load() -> Any:
    import polars  # noqa: F401

    from warehouse import load

    return load


def run_load(load: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = load([_data()[0]], Path(folder) / "fresh.duckdb")
        assert report.is_clean


def opened() -> Any:
    """The warehouse and the selection whose pairs are counted."""
    import polars  # noqa: F401

    from queries.selection import Slice, select
    from warehouse import Warehouse

    warehouse = Warehouse.open(_work() / "loaded.duckdb")
    return warehouse, select(warehouse, Slice(*_data()[1:]))


def run_counts_polars(asked: Any) -> None:
    from queries.counting import pair_counts

    warehouse, selection = asked
    pair_counts(warehouse, selection, "item")


def run_counts_sql(asked: Any) -> None:
    from queries.counting import pair_counts

    warehouse, selection = asked
    pair_counts(warehouse, selection, "item", engine="duckdb")


def run_counts_dense(asked: Any) -> None:
    from metaeval import kernels
    from queries.blocks import fetch_block

    block = fetch_block(*asked)
    block = block.only(block.with_segments)
    kernels.pair_counts(block.human, block.scores, kernels.group_labels("item", block.human.shape))


# ---------------------------------------------------------------- plain Python: csv, dictionaries, loops


def read_scores(path: Path) -> Scores:
    """A score file without the checks."""
    scores: Scores = {}
    with path.open(encoding="utf-8", newline="") as file:
        for system, score in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            scores.setdefault(system, []).append(math.nan if score == "None" else float(score))
    return scores


def read_all(_: None) -> int:
    """Every score file with two columns, into dictionaries, and the mean of each system."""
    n = 0
    for path in sorted(_data()[0].rglob("*.score")):
        if not path.name.endswith(".domain.score"):
            for values in read_scores(path).values():
                judged = [value for value in values if not math.isnan(value)]
                n += len(judged) and sum(judged) / len(judged) is not None
    return n


def files_of_the_ranking() -> tuple[Path, list[Path]]:
    """Human scores and the metrics' files that take part."""
    folder, testset, lp = _data()
    root = folder if folder.name == testset else folder / testset
    asked = opened()
    names = [choice.name for choice in asked[1].chosen_metrics if choice.has_segments]
    asked[0].close()
    metrics = [root / "metric-scores" / lp / f"{name}.seg.score" for name in names]
    return root / "human-scores" / f"{lp}.mqm.seg.score", metrics


def count_pairs(files: tuple[Path, Sequence[Path]]) -> int:
    """Pair counts by item of every metric, pair by pair."""
    human = read_scores(files[0])
    total = 0
    for path in files[1]:
        metric = read_scores(path)
        systems = sorted(system for system in human if system in metric)
        for segment in range(len(human[systems[0]])):
            counts = [0, 0, 0, 0, 0]
            judged = [s for s in systems if not math.isnan(human[s][segment])]
            for place, one in enumerate(judged):
                h, m = human[one][segment], metric[one][segment]
                for other in judged[:place]:
                    dh, dm = h - human[other][segment], m - metric[other][segment]
                    if dh == 0:
                        counts[4 if dm == 0 else 2] += 1
                    elif dm == 0:
                        counts[3] += 1
                    else:
                        counts[0 if (dh > 0) == (dm > 0) else 1] += 1
            total += sum(counts)
    return total


def rank_plainly(files: tuple[Path, Sequence[Path]]) -> list[tuple[float, str]]:
    """Metrics by acc23 per segment at threshold 0: a part of what `rank` does, which also calibrates and draws."""
    human = read_scores(files[0])
    ranking = []
    for path in files[1]:
        metric = read_scores(path)
        systems = sorted(system for system in human if system in metric)
        shares = []
        for segment in range(len(human[systems[0]])):
            cells = [(human[s][segment], metric[s][segment]) for s in systems if not math.isnan(human[s][segment])]
            n = len(cells) * (len(cells) - 1) // 2
            if n:
                right = sum(
                    (h > g) - (h < g) == (m > k) - (m < k)
                    for place, (h, m) in enumerate(cells)
                    for g, k in cells[:place]
                )
                shares.append(right / n)
        ranking.append((sum(shares) / len(shares), path.name))
    return sorted(ranking, reverse=True)


CASES = (
    Case("read all score files: csv and dictionaries, nothing checked or kept", read_all, nothing, repeats=1),
    Case(
        "load all files into a new warehouse: checked, kept, with texts",
        run_load,
        imported_load,
        target=3.0,
        baseline="read all score files: csv and dictionaries, nothing checked or kept",
    ),
    Case("`load` again, nothing changed (whole process)", run_load_again, nothing, target=1.0),
    Case("`--help` (whole process)", run_help, nothing, target=0.2, repeats=5),
    Case("`list testsets` (whole process)", run_list, nothing),
    Case("acc23 by item, no calibration: dictionaries and loops", rank_plainly, files_of_the_ranking, repeats=1),
    Case(
        "`rank -m spa -m acc_eq(by=item)` (whole process)",
        run_rank,
        nothing,
        target=2.0,
        baseline="acc23 by item, no calibration: dictionaries and loops",
    ),
    Case("pair counts by item: dictionaries and loops", count_pairs, files_of_the_ranking, repeats=1),
    Case("pair counts by item: SQL", run_counts_sql, opened, baseline="pair counts by item: dictionaries and loops"),
    Case(
        "pair counts by item: Polars, streaming",
        run_counts_polars,
        opened,
        baseline="pair counts by item: dictionaries and loops",
    ),
    Case(
        "pair counts by item: arrays and kernel",
        run_counts_dense,
        opened,
        baseline="pair counts by item: dictionaries and loops",
    ),
)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="scorehouse-benchmark-") as folder:
        os.environ["SCOREHOUSE_BENCHMARK"] = folder
        # In a process of its own: a process begins with its parent's peak memory as its own.
        code = "from benchmarks.bench_foundation import make_work; make_work()"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        print(markdown_table(CASES))
        print("\nMemory of whole processes is not in the table: it shows the process that starts them.")


if __name__ == "__main__":
    main()
