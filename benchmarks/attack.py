"""Attacks on files, archives, servers and processes: how many tries, and how many of them did no harm.

`python -m benchmarks.attack` runs all of them in a temporary folder, on the loopback address alone, within limits of
time, and writes the table of docs/reliability.md. A try survives where the program refuses in one line or answers
exactly as without the attack; a traceback, a changed value or something half written does not. Only what was run
stands in the table. `--times N` multiplies the tries that are drawn at random.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from benchmarks import attack_databases as databases
from benchmarks import attack_files as files
from benchmarks import attack_processes as processes
from benchmarks.attacking import WORST, Attack, Outcome

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reliability.md"

ATTACKS = (
    Attack("single flipped bits of exported Parquet", "refused", files.bits_of_parquet, 500),
    Attack("single flipped bits of an export's manifest", "refused, or the same scores", files.bits_of_manifest, 500),
    Attack("values and names of an export's manifest changed or removed", "refused", files.edits_of_manifest, 500),
    Attack("single flipped bits of score files (nobody vouches for a text)", "no traceback", files.bits_of_scores, 60),
    Attack("a table cut at every byte", "refused, or no score", files.cut_tables),
    Attack("gzip files that expand 400 times and more", "refused while they are read", files.bombs),
    Attack("hostile headers of archives", "refused in a short line, or unpacked inside", files.tar_headers, 3000),
    Attack("single flipped bits of archives", "refused, or the same files", files.bits_of_archives, 200),
    Attack("servers that say nothing, or a byte now and then", "given up in time", files.slow_servers),
    Attack("single flipped bits of packed scores", "refused, or the same scores", databases.bits_of_packed_scores, 200),
    Attack("single flipped bits of workbooks", "refused, or the same rows", databases.bits_of_workbooks, 500),
    Attack("files damaged from their first line on", "never passed over", databases.damaged_from_the_start),
    Attack("names that mean more elsewhere", "a fault, or escaped", databases.odd_names),
    Attack("single flipped bits of warehouses", "refused, or the same scores", databases.bits_of_databases, 200),
    Attack(
        "two blocks of 32 KB of warehouses swapped",
        "refused, found by `audit --deep`, or the same rows",
        databases.swapped_blocks,
        40,
    ),
    Attack("warehouses with views, macros or tables that are not ours", "refused", databases.lying_databases),
    Attack("hostile SQL", "refused, or ended at its limits", processes.hostile_queries),
    Attack("kill -9 of `load`", "the next load gives the whole", processes.killed_loads),
    Attack("kill -9 of `compute`", "nothing or all, the next does the rest", processes.killed_computes),
    Attack("kill -9 of `add`", "nothing or all, the next does the rest", processes.killed_adds),
    Attack("kill -9 of `unload`", "nothing or all, the next does the rest", processes.killed_unloads),
    Attack(
        "kill -9 of `compare`, which stores its result", "the next gives the same answer", processes.killed_comparisons
    ),
    Attack("kill -9 of `migrate`", "the next does the rest, the same scores", processes.killed_migrations),
    Attack("kill -9 of `export`", "refused by `load`, or whole", processes.killed_exports),
    Attack("temporary folders of killed loads", "removed by the next run", processes.left_folders),
    Attack(
        "disks that are full at any moment of `load` and `export`", "a line, then the whole", processes.full_disks, 60
    ),
    Attack("standard output closed, full, or without a reader", "at most a line", processes.closed_streams),
)


def run(attack: Attack, times: int) -> Outcome:
    n_tries = n_survived = 0
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        started = time.perf_counter()
        counted = () if attack.n_tries is None else (attack.n_tries * times,)
        for survived in attack.run(Path(folder), *counted):
            n_tries, n_survived = n_tries + 1, n_survived + survived
            worst = max(worst, time.perf_counter() - started)
            started = time.perf_counter()
    return Outcome(attack, n_tries, n_survived, worst)


def row(outcome: Outcome) -> str:
    return (
        f"| {outcome.attack.name} | {outcome.attack.expected} | {outcome.n_tries:,} | {outcome.n_survived:,} |"
        f" {outcome.worst_seconds:.1f} | {WORST.get(outcome.attack.run.__name__, '')} |"
    )


def earlier_rows() -> dict[str, str]:
    """The rows of the page by attack, from the runs before."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}


def page(rows: Mapping[str, str]) -> str:
    """rows: by attack; one that never ran has none."""
    here = f"Python {platform.python_version()}, DuckDB {version('duckdb')}, Polars {version('polars')}"
    return "\n".join(
        [
            "# Reliability",
            "",
            "What was tried to break files, archives, databases, queries and processes, and how often nothing broke.",
            "Written by `python -m benchmarks.attack`; only what that program ran stands here, with its seeds.",
            f"Last run with {here}. Seconds are the longest time between two",
            "tries, preparations included, on a machine with two cores that had other work.",
            "",
            "| attack | survives where it is | tries | survived | longest, s | worst |",
            "| --- | --- | ---: | ---: | ---: | --- |",
            *(rows[attack.name] for attack in ATTACKS if attack.name in rows),
            "",
            "What does not hold: DuckDB itself can end the process with a segmentation fault where a command writes",
            "to a file whose blocks were swapped (seen with `compute`). `audit --deep` only reads, and finds such a",
            "file.",
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", help="attacks with this word in their name; the others' rows stay as they are")
    chosen = parser.parse_args()
    outcomes = []
    for attack in ATTACKS:
        if chosen.only is None or chosen.only in attack.name:
            outcomes.append(run(attack, chosen.times))
            print(f"{attack.name}: {outcomes[-1].n_survived} of {outcomes[-1].n_tries}", flush=True)
            PAGE.write_text(page({**earlier_rows(), attack.name: row(outcomes[-1])}), encoding="utf-8")
    return int(any(outcome.n_survived < outcome.n_tries for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
