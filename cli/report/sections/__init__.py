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

SECTIONS: dict[str, Section] = {
    one.name: one
    for one in (
        overview.SECTION,
        rankings.SECTION,
        significance.SECTION,
        correlations.SECTION,
        calibration.SECTION,
        deltas.SECTION,
        trends.SECTION,
        protocols.SECTION,
        hard_pairs.SECTION,
        spans.SECTION,
        audit.SECTION,
        methods.SECTION,
    )
}
"""By the names that `--section` takes."""
