"""What is counted, averaged, calibrated and correlated in one evaluation set, and what is odd in the data."""

from pathlib import Path
from typing import Any, Unpack

from metaeval.measures import Measure
from metaeval.options import Options
from metaeval.questions.arguments import Names, SliceOptions, measure_of, names_of, question, slice_of
from metaeval.signature import line, program_version
from metaeval.system_scores import SystemScore
from metaeval.table import Table
from metaeval.tables import agreement
from metaeval.tables import autorank as ranking
from metaeval.tables import counts as pair_counting
from metaeval.tables import disagreements as reading
from metaeval.tables import means as averaging
from metaeval.tables import thresholds as calibrating
from metaeval.tables import ties as tying
from metaeval.tables.disagreements import By, Scale
from metaeval.tables.scatter import View as ScatterView
from metaeval.tables.scatter import scatter as lay
from queries.audit import audit as find
from queries.engines import Engine
from queries.findings import Severity, at_least, findings_frame
from queries.pairs import Unit
from warehouse import Warehouse


@question
def counts(
    warehouse: Warehouse | str | Path,
    testset: str,
    lp: str,
    by: Unit = "item",
    *,
    epsilon: float = 0.0,
    round_human: int | None = None,
    engine: Engine | None = None,
    session: Any = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Count concordant, discordant and tied pairs of each metric and group.

    warehouse: or the folder of an export. by: groups are segments ("item"), systems, or "none". epsilon: tie threshold
    on the metric. engine: "polars", "duckdb" or, of an export, "spark"; None for numpy in a warehouse, Polars in an
    export. session: a SparkSession; None for the active one, else Spark on this machine.
    """
    asked = slice_of(testset, lp, options)
    return pair_counting.pair_counts(warehouse, asked, by, epsilon, round_human, engine=engine, session=session)


@question
def means(
    warehouse: Warehouse | str | Path,
    testset: str,
    lp: str,
    *,
    engine: Engine = "polars",
    session: Any = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """System scores of the human score and of every metric: submitted, over all segments, over annotated segments.

    warehouse: or the folder of an export. engine: "polars", "duckdb" or, of an export, "spark". session: a
    SparkSession; None for the active one, else Spark on this machine.
    """
    return averaging.system_means(warehouse, slice_of(testset, lp, options), engine, session=session)


@question
def autorank(
    warehouse: Warehouse,
    testset: str,
    lp: str = "all",
    *,
    low: float = 25.0,
    high: float = 100.0,
    **options: Unpack[SliceOptions],
) -> Table:
    """Rank systems by several metrics, without human scores.

    lp: or several, joined by commas, or "all". low, high: percentiles over systems whose distance is the scale of each
    metric. Without metrics named, those of the task's own AutoRank (WMT25), else all of the slice.
    """
    return ranking.autorank(warehouse, slice_of(testset, lp, options), low=low, high=high).table


@question
def scatter(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    metric: str,
    view: ScatterView = "systems",
    *,
    system_score: SystemScore | None = None,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Lay one metric against humans.

    view: "systems", with both scores; "pairs", the differences of system pairs and whether the two agree; "segments",
    the number of (system, segment) scores in bins of both. Correlations are in the notes.
    """
    computing = Options(system_score, round_human=round_human)
    found = lay(warehouse, slice_of(testset, lp, options), metric, computing)
    return Table(found.view(view), found.signature, (*found.words, *found.notes))


@question
def segments(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    metric: Names = None,
    *,
    by: By | None = None,
    scale: Scale = "scores",
    n: int = 20,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """List the outputs on which a metric and people, or two metrics, disagree most, with texts and marked errors.

    metric: one is compared with people, two with each other; none: the mean of all included ones. by: groups of outputs
    instead, "length" in quarters by characters of the source. scale: standardise "scores", or their "ranks" among the
    outputs. n: number of rows. The residual is the difference of both standardised scores, in its standard deviations.
    """
    asked, names = slice_of(testset, lp, options), names_of(metric)
    return reading.disagreements(warehouse, asked, names, by=by, scale=scale, n=n, round_human=round_human).table


@question
def ties(
    warehouse: Warehouse, testset: str, lp: str, *, round_human: int | None = None, **options: Unpack[SliceOptions]
) -> Table:
    """Count tied pairs of the human score and of every metric, and pairs tied at a human score of 0."""
    return tying.ties(warehouse, slice_of(testset, lp, options), round_human)


@question
def thresholds(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    measure: str | Measure = "acc_eq(by=item)",
    *,
    curve: bool = False,
    points: int = 200,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Each metric's calibrated tie threshold, and the interval of thresholds that is as good.

    curve: instead the value over thresholds, at so many points, for plotting.
    """
    asked, computing = slice_of(testset, lp, options), Options(round_human=round_human)
    if curve:
        return calibrating.curve(warehouse, asked, measure_of(measure), computing, points)
    return calibrating.thresholds(warehouse, asked, measure_of(measure), computing)


@question
def correlations(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    measure: str | Measure = "pearson(by=none)",
    *,
    system_score: SystemScore | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Correlate every metric with every other one, over what humans judged; without human scores, over all segments.

    measure: pearson, spearman or kendall; with by=... on segments.
    """
    return agreement.agreement(warehouse, slice_of(testset, lp, options), measure_of(measure), Options(system_score))


@question
def audit(
    warehouse: Warehouse,
    testset: str | None = None,
    lp: str | None = None,
    *,
    severity: Severity = "info",
    check: Names = None,
) -> Table:
    """What is wrong or odd in the data: copies, shifts, wrong signs, gaps, noise, known issues.

    testset, lp: one, several joined by commas, or "all". severity: findings of at least this one. check: only these
    checks. Columns: severity, check, what is found, and the SQL
    that shows it.
    """
    checks = names_of(check)
    found = find(warehouse, testset, lp, checks)
    described = line(
        [
            ("audit", ",".join(checks) or "all"),
            ("testset", testset or "all"),
            ("lp", lp or "all"),
            ("severity", None if severity == "info" else severity),
            ("scorehouse", program_version()),
        ]
    )
    return Table(findings_frame(at_least(severity, found)), described, ())
