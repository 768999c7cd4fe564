"""Measures and protocols as tables."""

import polars as pl

from metaeval.measures.registry import DEFINITIONS
from metaeval.studies.protocols import protocols
from metaeval.studies.protocols.composed import MEASURE, weights, year_of


def measures() -> pl.DataFrame:
    """Columns measure (as printed), level, parameters, meaning, formula, range, source; one row per measure."""
    rows = [
        {
            "measure": name,
            "level": definition.level,
            "parameters": ", ".join(f"{p.name}={p.show(p.default)}" for p in definition.parameters),
            "meaning": definition.meaning,
            "formula": definition.formula,
            "range": definition.range,
            "source": definition.source,
        }
        for name, definition in DEFINITIONS.items()
    ]
    return pl.DataFrame(rows)


def protocol_table() -> pl.DataFrame:
    """Columns protocol, year, lps (each or pooled), measure, test, weight, outliers; one row per rule or class."""
    rows = [
        {
            "protocol": protocol.name,
            "year": protocol.year,
            "lps": rule.lps,
            "measure": str(rule.measure),
            "test": rule.test or "the measure's own",
            "weight": "number of language pairs" if rule.weight == "n_lps" else str(rule.weight),
            "outliers": "in" if rule.outliers == "none" else "out",
            "official_lps": ",".join(protocol.default_lps),
        }
        for protocol in protocols().values()
        for rule in protocol.rules
    ]
    rows += [
        {
            "protocol": name,
            "year": year_of(name),
            "lps": "pooled",
            "measure": f"{one}: {MEASURE}",
            "test": "none",
            "weight": str(weight),
            "outliers": "in",
            "official_lps": "",
        }
        for name, of_classes in weights().items()
        for one, weight in of_classes.items()
    ]
    return pl.DataFrame(rows)
