"""How long a full scan of every public view takes, all columns of all rows, and every question of the cookbook.

    python -m benchmarks.bench_views WAREHOUSE

Prints a Markdown table of CPU seconds (all cores together) and of their ratio to a scan of all segment scores as they
are stored, the least of three runs each.
"""

import sys
import time
from pathlib import Path

from queries.cookbook import recipes
from warehouse import Warehouse

REPEATS = 3
STORED = "SELECT max(vector_id), max(segment), max(value) FROM internal.score"


def cpu_seconds(warehouse: Warehouse, query: str) -> float:
    """The least CPU time of a query in REPEATS runs."""
    taken = []
    for _ in range(REPEATS):
        started = time.process_time()
        warehouse.rows(query)
        taken.append(time.process_time() - started)
    return min(taken)


def main(path: Path) -> None:
    """Print the table for the warehouse in a file."""
    with Warehouse.open(path) as warehouse:
        columns = warehouse.rows(
            "SELECT table_name, list('max(\"' || column_name || '\")') FROM duckdb_columns() "
            "WHERE schema_name = 'main' AND NOT internal GROUP BY table_name ORDER BY table_name"
        )
        stored = cpu_seconds(warehouse, STORED)
        print(f"| view | CPU seconds | to the stored scores ({stored:.3f} s) |\n| --- | --: | --: |")
        for view, of in columns:
            seconds = cpu_seconds(warehouse, f"SELECT {', '.join(of)} FROM {view}")
            print(f"| {view} | {seconds:.2f} | {seconds / stored:.1f} |", flush=True)
        for name, recipe in recipes().items():
            seconds = cpu_seconds(warehouse, recipe.query)
            print(f"| cookbook: {name} | {seconds:.2f} | {seconds / stored:.1f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
