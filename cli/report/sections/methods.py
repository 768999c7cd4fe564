"""How the numbers were made: the measures, tests and intervals of the parts that stand on the page before."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from cli.report.content import Part, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section
from metaeval.catalogue import measures
from metaeval.measures import parse_measure
from warehouse.wording import counted

_COLUMNS = {"measure": "measure", "level": "level", "meaning": "meaning", "formula": "formula", "source": "source"}


def _jobs(desk: Desk) -> Sequence[Job]:
    return [Job("methods", "Measures, tests and intervals", (), (), partial(_part, desk), is_kept=False)]


def _part(desk: Desk) -> Part:
    known = {row["measure"]: row for row in measures().rows(named=True)}
    named = {one: str(parse_measure(one).definition.measure) for part in desk.parts for one in part.measures}
    rows = pl.DataFrame([{**known[default], "measure": shown} for shown, default in sorted(named.items())])
    signatures = [line for part in desk.parts for line in part.signatures]
    notes = [
        "Human scores, references, outlier systems and metrics are those of the shared task: the official human "
        "score and reference, the organisers' outliers excluded, metrics with scores for every system."
    ]
    if any("|test:" in line for line in signatures):
        notes.append(
            f"Clusters and p-values: two-sided tests at p ≤ {desk.testing.alpha:g}, "
            f"{counted(desk.settings.draws, 'resample')} where a test resamples, random seed "
            f"{desk.settings.seed}; each signature names the test and what it generalises to. Best first, "
            "a metric that is significantly worse than any of the current cluster begins the next."
        )
    if any("|interval:" in line for line in signatures):
        notes.append("Intervals are at 95%; the lines above a chart say what was resampled.")
    notes.append(
        "Numbers in tables are rounded; CSV has them in full. A signature states everything a number depends on."
    )
    return Part(
        "Measures, tests and intervals", grids=(grid("Measures", rows, _COLUMNS),) if named else (), notes=tuple(notes)
    )


SECTION = Section("methods", "Methods", "How the numbers of this page were made.", _jobs)
