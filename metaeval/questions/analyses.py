"""Analyses over many evaluation sets, of disturbed metrics, or of two warehouses; printed papers computed again."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Literal, Unpack

from metaeval.differences import warehouse_differences
from metaeval.kernels.resampling.noise import KINDS, Kind
from metaeval.measures import Measure
from metaeval.options import Options
from metaeval.pairs import delta_tables
from metaeval.pairs import deltas as differences
from metaeval.pairs import hard_pairs as hardness
from metaeval.papers import item_named, paper_named
from metaeval.papers.items import Request
from metaeval.papers.running import run as run_item
from metaeval.papers.tables import results_table
from metaeval.planning.metrics import plan_metrics
from metaeval.planning.plans import Asked as PlanAsked
from metaeval.planning.simulation import Unit as PlanUnit
from metaeval.planning.systems import plan_systems
from metaeval.questions.arguments import (
    DataOptions,
    Measures,
    Names,
    Numbers,
    SliceOptions,
    measure_of,
    measures_of,
    names_of,
    question,
    slice_of,
)
from metaeval.ranking import DEFAULT_MEASURES
from metaeval.robustness import noise as injection
from metaeval.robustness import oracles as made_of_errors
from metaeval.significance.options import TestOptions
from metaeval.system_scores import SystemScore
from metaeval.table import Table
from metaeval.trends.gaps import Pooling as YearPooling
from metaeval.trends.groups import BYS
from metaeval.trends.history import history
from metaeval.trends.views import Asked as TrendView
from metaeval.trends.views import View, show, slice_of_view
from metaeval.trends.within import SlopeOf
from warehouse import Warehouse
from warehouse.errors import unknown


@question
def trend(
    warehouse: Warehouse,
    testset: str = "all",
    lp: str = "all",
    measure: str | Measure = "pa",
    *,
    view: View = "years",
    by: Names = ("family", "kind"),
    anchor: str = "BLEU",
    pool: YearPooling | None = None,
    published: Mapping[str, int] | None = None,
    without_contaminated: bool = False,
    slope_of: SlopeOf = "new-metrics",
    draws: int = 1000,
    alpha: float = 0.05,
    fresh: bool = False,
    system_score: SystemScore | None = None,
    seed: int = 0,
    raw_ties: bool = False,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Follow a measure over the years.

    view: "years": a row for each evaluation set and group, with the gap to the anchor on the same data; with pool, one
    for each year and protocol. "within": slopes over publication years within each evaluation set, pooled.
    "over-years": the trend of the yearly gaps, tested by permuting years. "bridges": sets with two human protocols.
    by: "family", "version", "kind", "best", one or several. published: publication years by base name or pattern.
    slope_of: of "within": "new-metrics" pools slopes as those of metrics of which these are a sample, "these-metrics"
    of these alone; metrics are primary and baseline ones unless all_metrics.
    fresh: recompute results that the warehouse has stored.
    Raises QuestionError: unknown names, or no evaluation set with a value.
    """
    ways = names_of(by)
    for way in ways:
        if way not in BYS:
            raise unknown("by", way, BYS)
    computing, testing = Options(system_score, seed, raw_ties, round_human), TestOptions(draws=draws, alpha=alpha)
    asked = slice_of_view(slice_of(testset, lp, options), view)
    found = history(
        lambda: nullcontext(warehouse),
        asked,
        measure_of(measure),
        computing,
        testing,
        anchor,
        bridged=view == "bridges",
        fresh=fresh,
    )
    years = tuple((published or {}).items())
    shown = show(
        found,
        TrendView(view, ways, pool, years, without_contaminated, slope_of, alpha, seed),  # type: ignore[arg-type]
    )
    return shown.table


@question
def deltas(
    warehouse: Warehouse,
    metric: str,
    testset: str = "all",
    lp: str = "all",
    *,
    agreement: Numbers = differences.LEVELS,
    human_alpha: float | None = None,
    percent: bool = False,
    draws: int = 1000,
    system_score: SystemScore | None = None,
    seed: int = 0,
    raw_ties: bool = False,
    round_human: int | None = None,
    **options: Unpack[DataOptions],
) -> Table:
    """How large a metric's difference between two systems must be for people to agree with it.

    agreement: shares of pairs that the metric must order as people do. human_alpha: only pairs that people tell apart
    at this significance level. percent: multiply scores between 0 and 1 by 100 where other sets have a scale to 100.
    Returns a row for each human protocol, direction and share: delta, its interval, pairs and sets behind it; delta is
    null where the share is not reached.
    Raises QuestionError: unknown names, or no pair of systems.
    """
    levels = differences.LEVELS if agreement is None else agreement
    what = differences.Asked(tuple(levels), human_alpha, percent, draws, seed)
    computing = Options(system_score, seed, raw_ties, round_human)
    return delta_tables.deltas_table(
        differences.deltas(warehouse, slice_of(testset, lp, options), metric, computing, what)
    )


@question
def hard_pairs(
    warehouse: Warehouse,
    testset: str = "all",
    lp: str = "all",
    *,
    at_most: int = hardness.MOST_RIGHT,
    least_metrics: int = hardness.FEWEST_METRICS,
    significant: bool = False,
    alpha: float = 0.05,
    system_score: SystemScore | None = None,
    raw_ties: bool = False,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Pairs of systems that at most so many metrics order as people do, those of fewest metrics first.

    least_metrics: evaluation sets with fewer metrics are excluded. significant: only pairs that people tell apart at
    level alpha (Wilcoxon's signed-rank test).
    Returns a row for each pair: the systems, people's difference and its p, how many metrics are right, and which.
    """
    what = hardness.Asked(at_most, least_metrics, alpha, significant)
    computing = Options(system_score, raw_ties=raw_ties, round_human=round_human)
    return hardness.hard_pairs(warehouse, slice_of(testset, lp, options), computing, what).table


@question
def noise(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    metric: str | None = None,
    measures: Measures = injection.DEFAULT_MEASURES,
    *,
    kinds: Names = KINDS,
    strengths: Numbers = injection.STRENGTHS,
    shares: Numbers = injection.SHARES,
    draws: int = 20,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[DataOptions],
) -> Table:
    """What rising noise in a metric does to each measure; metric: None for the human score itself.

    kinds: noise on each score, a bias of each segment or system, outliers. strengths: in standard deviations of the
    metric; shares: of scores that become outliers.
    Returns a row for each kind, measure and strength: mean value over draws, 5 and 95%, standard deviation.
    Raises QuestionError: unknown names, or a metric without scores for all that is judged.
    """
    for kind in names_of(kinds):
        if kind not in KINDS:
            raise unknown("kind", kind, KINDS)
    chosen: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind in names_of(kinds))
    of_strengths = injection.STRENGTHS if strengths is None else strengths
    of_shares = injection.SHARES if shares is None else shares
    what = injection.Asked(chosen, tuple(of_strengths), tuple(of_shares), draws, seed)
    computing = Options(seed=seed, round_human=round_human)
    return injection.noise(warehouse, slice_of(testset, lp, options), metric, measures_of(measures), computing, what)


@question
def oracles(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    measures: Measures = injection.DEFAULT_MEASURES,
    *,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[DataOptions],
) -> Table:
    """Metrics made of the errors that people marked, under other weights, and the order in which measures put them.

    Returns a row for each measure and oracle, with its rank, and for each further human score of segments.
    Raises QuestionError: unknown names, or neither errors nor a further human score.
    """
    computing = Options(seed=seed, round_human=round_human)
    return made_of_errors.oracles(warehouse, slice_of(testset, lp, options), measures_of(measures), computing)


@question
def paper(
    warehouse: Warehouse,
    name: str,
    item: str,
    testset: str | None = None,
    lp: str | None = None,
    *,
    human: str | None = None,
    metrics: Names = None,
    draws: int | None = None,
    seed: int = 0,
    fresh: bool = False,
) -> Table:
    """Recompute a table or figure of a paper, each value beside the printed one.

    name: such as "thompson-2024"; item: such as "table-1". testset, lp: joined by commas or "all"; None for the paper's
    own. metrics: of a figure that shows one or two. draws: None for the paper's number of resamples.
    fresh: recompute results that the warehouse has stored.
    Returns a row for each value; verdict: "met", "noise", "explained", "differs", "not_loaded" or "new".
    Raises QuestionError: unknown names, or nothing can be computed on what was named.
    """
    found = paper_named(name)
    request = Request(lambda: nullcontext(warehouse), seed, draws, names_of(metrics))
    return results_table([run_item(request, found, item_named(found, item), testset, lp, human, fresh=fresh)])


@question
def plan(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    first: str,
    second: str,
    measure: str | Measure = "acc_eq(by=item)",
    *,
    tell: Literal["metrics", "systems"] = "metrics",
    unit: PlanUnit = "segments",
    power: float = 0.8,
    alpha: float = 0.05,
    simulations: int = 100,
    draws: int = 500,
    system_score: SystemScore | None = None,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[DataOptions],
) -> Table:
    """How many segments, systems or judgements tell two metrics, or two systems, apart.

    tell: whether first and second are metrics, compared by the measure, or systems, compared by the human score. unit:
    "segments", "systems" or "judgements" for metrics, "segments" or "judgements" for systems.
    Returns one row: the number needed with intervals, what there is and its power, the observed difference.
    Raises QuestionError: unknown names, a unit that does not fit, no difference between the two.
    """
    what = PlanAsked(unit, power, alpha, simulations, draws, seed)
    computing, asked = Options(system_score, seed, round_human=round_human), slice_of(testset, lp, options)
    if tell == "systems":
        return plan_systems(warehouse, asked, (first, second), computing, what).table
    return plan_metrics(warehouse, asked, (first, second), measure_of(measure), computing, what).table


@question
def diff(
    before: Warehouse,
    after: Warehouse,
    testset: str | None = None,
    lp: str | None = None,
    *,
    measures: Measures = DEFAULT_MEASURES,
    each: bool = False,
) -> Table:
    """What differs between two warehouses, and the rankings that differ because of it.

    testset, lp: only there. measures: of the rankings; () for none. each: a row for each source, system, scorer and so
    on, instead of one that counts those of a kind. No rows: nothing differs.
    Raises QuestionError: one file given twice, or names that neither warehouse has.
    """
    found = warehouse_differences(before, after, measures_of(measures, may_lack=True), testset=testset, lp=lp)
    return Table(found.frame(each=each), found.signature, found.notes)
