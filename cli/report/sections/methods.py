"""How the numbers were made: measures, tests and intervals."""

from collections.abc import Sequence
from functools import partial

from cli.report.content import Part, grid
from cli.report.desk import SYSTEM_MEASURE, Desk
from cli.report.making import Job, Section
from cli.report.sections import correlations, trends
from metaeval.catalogue import measures
from metaeval.measures import parse_measure
from warehouse.wording import counted

_COLUMNS = {"measure": "measure", "level": "level", "meaning": "meaning", "formula": "formula", "source": "source"}


def _jobs(desk: Desk) -> Sequence[Job]:
    return [Job("methods", "Measures, tests and intervals", (), (), partial(_part, desk), is_kept=False)]


def _part(desk: Desk) -> Part:
    used = [*map(str, desk.measures()), SYSTEM_MEASURE, trends.MEASURE, correlations.OF_SEGMENTS]
    names = {parse_measure(text).definition.name for text in used}
    known = measures()
    return Part(
        "Measures, tests and intervals",
        grids=(grid("Measures", known.filter(known["measure"].is_in(list(names))), _COLUMNS),),
        notes=(
            "Human scores, references, outlier systems and metrics are those of the shared task: the official human "
            "score and reference, the organisers' outliers excluded, metrics with scores for every system.",
            f"Clusters and p-values: two-sided tests at p ≤ {desk.testing.alpha:g}, "
            f"{counted(desk.settings.draws, 'resample')} where a test resamples, random seed "
            f"{desk.settings.seed}; each signature names the test and what it generalises to. Best first, "
            "a metric that is significantly worse than any of the current cluster begins the next.",
            "Intervals are at 95%; the lines above a chart say what was resampled.",
            "Numbers in tables are rounded; CSV has them in full. A signature states everything a number depends on.",
        ),
    )


SECTION = Section("methods", "Methods", "How the numbers of this page were made.", _jobs)
