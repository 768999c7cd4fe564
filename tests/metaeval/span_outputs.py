"""A warehouse of marked outputs, from spans that a test writes down."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse import Warehouse, load
from warehouse.export.mtme import Errors, RatingTable, write_evalset

Span = dict[str, Any]
Outputs = Mapping[tuple[str, int], Sequence[Span] | None]  # by system and segment from 1; None: no annotation


def span(start: int, end: int, severity: str = "minor") -> Span:
    return {"start": start, "end": end, "severity": severity}


def marked(outputs: Outputs, systems: Sequence[str], n: int, *, is_gold: bool) -> RatingTable:
    def errors(spans: Sequence[Span] | None) -> Errors | None:
        more = {"category": None, "score": 1} if is_gold else {}
        return (
            None
            if spans is None
            else [{**one, "is_source_error": one.get("side") == "source", **more} for one in spans]
        )

    return RatingTable({s: [errors(outputs.get((s, at))) for at in range(1, n + 1)] for s in systems})


def warehouse_of(
    folder: Path,
    gold: Outputs,
    predictions: Mapping[str, Outputs],
    lengths: Mapping[tuple[str, int], int] | None = None,
    others: Mapping[str, Outputs] | None = None,
) -> Warehouse:
    """A warehouse with a human score, `marked`, perhaps others, and metrics that predict spans."""
    systems = sorted({system for system, _ in gold})
    n = max(segment for _, segment in gold)
    texts = {system: ["x" * (lengths or {}).get((system, at), 1000) for at in range(1, n + 1)] for system in systems}
    write_evalset(
        folder / "t24",
        "en-de",
        documents=[("news", f"d{at // 4}") for at in range(n)],
        outputs=texts,
        ratings={
            name: marked(found, systems, n, is_gold=True) for name, found in {"marked": gold, **(others or {})}.items()
        },
        predictions={name: marked(found, systems, n, is_gold=False) for name, found in predictions.items()},
    )
    database = folder / "w.duckdb"
    assert not load([folder / "t24"], database).faults
    return Warehouse.open(database)
