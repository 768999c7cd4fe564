"""Answer sentences of plans without simulated data sets."""

from typing import Any

import polars as pl

from metaeval.results.answer import Result
from metaeval.results.sentences import named, opening
from warehouse.wording import counted, ends


def of_sequence(found: Result) -> str:
    """Systems that may still be the best, and the judgements that stopping early would have saved."""
    possible = found.frame.filter("is_possible")["system"].to_list()
    saved = f" Stopping early would have saved {found.facts['saved']:.0%} of the judgements."
    if len(possible) == 1:
        return opening(f"{possible[0]} is the best system: annotation may stop.{saved}")
    return opening(f"{named(possible, 3)} may still be the best of {counted(found.frame.height, 'system')}.{saved}")


def interval(row: dict[str, Any]) -> str:
    """The 95% interval of a number of units, which may have no upper end."""
    if row["data_high"] is None:
        return f"95% interval: at least {row['data_low']}"
    return f"95% interval: {ends(row['data_low'], row['data_high'])}"


def of_designs(frame: pl.DataFrame, power: float, unit: str) -> str:
    """The design with the fewest judgements, compared with others."""
    one = frame.row(0, named=True)
    pair = f"{one['first']} and {one['second']}"
    where = "if segments are independent" if unit == "segment" else "in documents"
    lead = f"Telling {pair} apart with power {power:g} takes about"
    ends = f" {where} ({interval(one)})"
    chance = "Their difference may be chance." if one["data_high"] is None else ""
    if frame.height > 1:
        return opening(f"{lead} {_design(one)}{ends}, or {_design(frame.row(-1, named=True))}.", chance)
    if "n_segments_assisted" in frame.columns:
        segments = counted(one["n_segments"], "segment")
        return opening(f"{lead} {segments}{ends}, {one['n_segments_assisted']} with the metric's help.", chance)
    return opening(f"{lead} {_design(one)}{ends}.", chance)


def _design(row: dict[str, Any]) -> str:
    """Segments by annotators."""
    return f"{counted(row['n_segments'], 'segment')} × {counted(row['n_annotators'] or 1, 'annotator')}"
