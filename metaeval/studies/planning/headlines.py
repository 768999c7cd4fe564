"""Answer sentences of plans without simulated data sets."""

from typing import Any

import polars as pl

from metaeval.results.answer import Result
from metaeval.results.sentences import named, opening
from warehouse.wording import counted


def of_sequence(found: Result) -> str:
    """Systems that may still be the best, and the judgements that stopping early would have saved."""
    possible = found.frame.filter("is_possible")["system"].to_list()
    saved = f" Stopping early would have saved {found.facts['saved']:.0%} of the judgements."
    if len(possible) == 1:
        return opening(f"{possible[0]} is the best system: annotation may stop.{saved}")
    return opening(f"{named(possible, 3)} may still be the best of {counted(found.frame.height, 'system')}.{saved}")


def of_designs(frame: pl.DataFrame, power: float) -> str:
    """The design with the fewest judgements, compared with others."""
    one = frame.row(0, named=True)
    pair = f"{one['first']} and {one['second']}"
    lead = f"Telling {pair} apart with power {power:g} takes about"
    if frame.height > 1:
        last = frame.row(-1, named=True)
        return opening(
            f"{lead} {_design(one)} ({counted(one['n_judgements'], 'judgement')} of each), or {_design(last)} "
            f"({last['n_judgements']})."
        )
    if "n_segments_assisted" in frame.columns:
        segments = counted(one["n_segments"], "segment")
        return opening(f"{lead} {segments}, {one['n_segments_assisted']} with the metric's help.")
    return opening(f"{lead} {_design(one)} ({counted(one['n_judgements'], 'judgement')} of each).")


def _design(row: dict[str, Any]) -> str:
    """Segments by annotators."""
    return f"{counted(row['n_segments'], 'segment')} × {counted(row['n_annotators'] or 1, 'annotator')}"
