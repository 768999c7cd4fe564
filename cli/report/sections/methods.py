"""How the numbers were made: the measures, tests and intervals of the parts that stand on the page before."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from cli.report.content import Part, grid
from cli.report.desk import Desk
from cli.report.making import Job, Section
from metaeval.catalogue import measures
from metaeval.measures import Measure, parse_measure
from warehouse import QuestionError
from warehouse.wording import counted

_COLUMNS = {"measure": "measure", "level": "level", "meaning": "meaning", "formula": "formula", "source": "source"}
_NAMED = ("measure", "measures")
"""Headings of columns of tables that name measures."""
_IN_SIGNATURE = re.compile(r"(?:^|\|)(?:measure|matrix):([^|]+)")
_MEASURE = re.compile(r"[a-z][a-z_0-9]*(?:\([^()]*\))?")


def _jobs(desk: Desk) -> Sequence[Job]:
    return [Job("methods", "Measures, tests and intervals", (), (), partial(_part, desk), is_kept=False)]


def _part(desk: Desk) -> Part:
    known = {row["measure"]: row for row in measures().rows(named=True)}
    named = {str(one): str(one.definition.measure) for one in _measures(desk.parts)}
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


def _measures(parts: Sequence[Part]) -> Iterator[Measure]:
    """The measures of some parts, by their signatures and by their tables' columns of measures."""
    texts = [match[1] for part in parts for line in part.signatures for match in _IN_SIGNATURE.finditer(line)]
    for table in (table for part in parts for table in part.grids):
        for place, heading in enumerate(table.columns):
            if heading in _NAMED:
                texts += [str(row[place]) for row in table.rows if row[place] is not None]
    for name in {match[0] for text in texts for match in _MEASURE.finditer(text)}:
        try:
            yield parse_measure(name)
        except QuestionError:  # another word
            continue


SECTION = Section("methods", "Methods", "How the numbers of this page were made.", _jobs)
