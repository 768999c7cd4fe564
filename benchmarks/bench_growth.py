"""Growth of time and memory with the scores of one evaluation set: figures, exponents and a picture.

`python -m benchmarks.bench_growth FOLDER [SCORES ...]` simulates one table for each number of scores, runs the program
in separate processes, and adds CPU seconds and peak memory to `benchmarks/growth.csv`. Without FOLDER it only prints
the Markdown table of docs/scale.md from that file, and writes docs/growth.svg.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl

from benchmarks.bench_scale import LARGE, run, write_tables

FIGURES = Path(__file__).with_name("growth.csv")
PICTURE = Path(__file__).parents[1] / "docs" / "growth.svg"
SCORES = (1e5, 1e6, 1e7, 2.4e7)
COLUMNS = ("n_scores", "what", "cpu_seconds", "peak_gb")
QUESTIONS = {
    "rank (spa)": ("rank", "all", "-m", "spa"),
    "rank (acc_eq)": ("rank", "all", "-m", "acc_eq(by=item)"),
    "compare": ("compare", "sim00", "en-de", "-m", "pa", "--resamples", "1000", "--recompute"),
}


def measure(folder: Path, n_scores: float) -> None:
    """Load one table and ask about it; one line of the figures each."""
    share = (n_scores / np.prod(LARGE)) ** (1 / 3)
    n_metrics, n_systems, n_segments = (max(3, round(size * share)) for size in LARGE)
    folder.mkdir(parents=True, exist_ok=True)
    files, database = folder / f"{n_scores:.0f}", folder / f"{n_scores:.0f}.duckdb"
    files.mkdir()
    n_rows = write_tables(files, (n_metrics, n_systems, n_segments), 1, most_rows=1 << 62)
    jobs: dict[str, tuple[str | Path, ...]] = {"load": ("load", files)}
    jobs |= {name: (*words, "--format", "csv") for name, words in QUESTIONS.items()}
    for name, words in jobs.items():
        cpu, _, peak, code = run(*words, "--db", database)
        assert code == 0, words
        with FIGURES.open("a", newline="") as file:
            csv.writer(file).writerow((n_rows, name, f"{cpu:.2f}", f"{peak:.2f}"))


def exponent(figures: pl.DataFrame) -> float:
    """Slope of log CPU seconds over log scores, by least squares, from 10^6 scores: below, starting dominates."""
    large = figures.filter(pl.col("n_scores") > 900_000)
    slope, _ = np.polyfit(np.log(large["n_scores"]), np.log(large["cpu_seconds"]), 1)
    return float(slope)


def table(figures: pl.DataFrame) -> str:
    """The Markdown table: one row for each number of scores, and the exponents."""
    names = figures["what"].unique(maintain_order=True).to_list()
    lines = ["| scores | " + " | ".join(names) + " |", "| ---" + " | ---:" * len(names) + " |"]
    for (n_scores,), rows in figures.group_by("n_scores", maintain_order=True):
        cells = dict(rows.select("what", pl.format("{} s, {} GB", "cpu_seconds", "peak_gb")).iter_rows())
        lines.append(f"| {n_scores:.1e} | " + " | ".join(cells[name] for name in names) + " |")
    slopes = (f"{exponent(figures.filter(pl.col('what') == name)):.2f}" for name in names)
    return "\n".join([*lines, "| exponent | " + " | ".join(slopes) + " |"])


def picture(figures: pl.DataFrame) -> alt.Chart:
    """CPU seconds over scores, both on logarithmic scales."""
    base = alt.Chart(alt.Data(values=figures.to_dicts()), width=420, height=260)
    return base.mark_line(point=True).encode(
        x=alt.X("n_scores:Q", scale=alt.Scale(type="log"), title="scores in one evaluation set"),
        y=alt.Y("cpu_seconds:Q", scale=alt.Scale(type="log"), title="CPU seconds"),
        color=alt.Color("what:N", title=None, sort=None),
    )


def main() -> None:
    if len(sys.argv) > 1:
        for n_scores in map(float, sys.argv[2:] or SCORES):
            measure(Path(sys.argv[1]), n_scores)
    figures = pl.read_csv(FIGURES).unique(["n_scores", "what"], keep="last", maintain_order=True).sort("n_scores")
    print(table(figures))
    picture(figures).save(PICTURE)


if __name__ == "__main__":
    main()
