"""A small warehouse of each released version, and what that version answered.

`python -m tests.warehouse.database.upgrades` writes those of this version, of the demo's seed, once, at its release.
"""

import json
import lzma
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import metaeval
from metaeval.results.signature import program_version
from warehouse import Warehouse, load
from warehouse.simulation import simulate_evalset, write_shared_task

FOLDER = Path(__file__).with_name("released")
METRICS = ("simBLEU", "Kestrel", "Tally", "Onlooker")


def answers(warehouse: Warehouse) -> dict[str, Any]:
    """What a warehouse answers to questions that read scores, judgements and spans, and what it lists."""
    asked = {
        "rank": metaeval.rank(warehouse, "sim24", "ja-en", ["pa", "acc_eq(by=item)", "char_f1"], status="all"),
        "compare": metaeval.compare(warehouse, "sim24", "ja-en", measure="pa", resamples=50, test="perm-inputs"),
        "annotators": metaeval.annotators(warehouse, "sim24", "ja-en"),
    }
    found = {name: json.loads(answer.frame.write_json()) for name, answer in asked.items()}
    lists = ("testsets", "lps", "metrics", "humans", "systems")
    return found | {name: json.loads(metaeval.list(warehouse, name).frame.write_json()) for name in lists}


def remade(version: str, folder: Path) -> Path:
    """A copy of the warehouse of a version."""
    database = folder / "w.duckdb"
    database.write_bytes(lzma.decompress((FOLDER / f"{version}.duckdb.xz").read_bytes()))
    return database


def _text(found: dict[str, Any]) -> str:
    """JSON with a row a line."""
    tables = (f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]" for name, rows in found.items())
    return "{" + ",\n".join(tables) + "}\n"


def main() -> None:
    """Write the warehouse and the answers of this version."""
    evalset = simulate_evalset(2024, "ja-en")
    kept = {name: table for name, table in evalset.metrics.items() if name.startswith(METRICS)}
    with tempfile.TemporaryDirectory() as made:
        database = Path(made) / "w.duckdb"
        load(write_shared_task(Path(made) / "in", [replace(evalset, metrics=kept)]), database)
        with Warehouse.open(database) as warehouse:
            found = answers(warehouse)
        version = program_version()
        (FOLDER / f"{version}.duckdb.xz").write_bytes(lzma.compress(database.read_bytes(), preset=9))
        (FOLDER / f"{version}.json").write_text(_text(found), encoding="utf-8")


if __name__ == "__main__":
    main()
