"""The sections of a report, one module each, in the order of the page."""

from cli.report.making import Section
from cli.report.sections import (
    audit,
    calibration,
    correlations,
    deltas,
    hard_pairs,
    methods,
    overview,
    protocols,
    rankings,
    significance,
    spans,
    trends,
)

_IN_ORDER = (overview, rankings, significance, correlations, calibration, deltas, trends, protocols, hard_pairs, spans)
SECTIONS: dict[str, Section] = {one.SECTION.name: one.SECTION for one in (*_IN_ORDER, audit, methods)}
"""By the names that `--section` takes."""
