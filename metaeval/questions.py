"""The questions of the command line as functions: plain strings in, a table with its signature and notes out."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypedDict, Unpack, get_args, get_origin, get_type_hints

from metaeval.evaluation import Options
from metaeval.inputs import Inputs
from metaeval.kernels.resampling.bootstrap import IntervalMethod, Resample
from metaeval.kernels.resampling.corrections import Correction
from metaeval.kernels.resampling.noise import KINDS, Kind
from metaeval.measures import Measure
from metaeval.measures.applicable import Population, Test
from metaeval.pairs import deltas as differences
from metaeval.pairs import hard_pairs as hardness
from metaeval.papers import item_named, paper_named
from metaeval.papers.items import Request
from metaeval.papers.running import run as run_item
from metaeval.papers.tables import results_table
from metaeval.pooling import Pooling
from metaeval.protocols import protocol_named
from metaeval.protocols.entry import enter
from metaeval.protocols.scoring import score
from metaeval.protocols.tables import beside_lines, missing_lines, score_frame
from metaeval.ranking import DEFAULT_MEASURES, ranked, read
from metaeval.robustness import noise as injection
from metaeval.robustness import oracles as made_of_errors
from metaeval.significance.cached import pending, settled
from metaeval.significance.comparison import matrix_frame
from metaeval.significance.options import TestOptions
from metaeval.significance.pairwise import pair_frame
from metaeval.significance.systems import SystemTest, compare_systems, systems_frame
from metaeval.system_scores import SystemScore
from metaeval.tables import agreement
from metaeval.tables import counts as pair_counting
from metaeval.tables import means as averaging
from metaeval.tables import thresholds as calibrating
from metaeval.tables import ties as tying
from metaeval.tables.scatter import View as ScatterView
from metaeval.tables.scatter import scatter as lay
from metaeval.tables.table import Table
from metaeval.trends.gaps import Pooling as YearPooling
from metaeval.trends.groups import BYS
from metaeval.trends.history import history
from metaeval.trends.views import Asked as TrendView
from metaeval.trends.views import View, show
from queries.audit import audit as find
from queries.audit import findings_frame
from queries.engines import Engine
from queries.evalsets import expand
from queries.pairs import Unit
from queries.selection import Outliers, Slice
from warehouse import Warehouse
from warehouse.errors import unknown

Names = str | Sequence[str]
_FIRST = ("metric", "measure", "value", "rank", "cluster")  # columns of a ranking that people read first


class SliceOptions(TypedDict, total=False):
    """Which part of an evaluation set: the flags of the command line; names and shell patterns, one or several."""

    human: str | None
    reference: str | None
    domain: Names
    document: Names
    segments: tuple[int, int] | None
    systems: Names
    metrics: Names
    only: Literal["reference-based", "reference-free"] | None
    primary: bool
    human_references: bool | None
    outliers: Outliers
    own: bool
    all_metrics: bool
    intersection: bool


_DEFAULTS: dict[str, object] = {
    "human": None,
    "reference": None,
    "domain": (),
    "document": (),
    "segments": None,
    "systems": (),
    "metrics": (),
    "only": None,
    "primary": False,
    "human_references": None,
    "outliers": "organisers",
    "own": False,
    "all_metrics": False,
    "intersection": False,
}
_FIELDS = {"domain": "domains", "document": "documents"}
_PATTERNS = ("domain", "document", "systems", "metrics")
Asked = ParamSpec("Asked")


def _question(function: Callable[Asked, Table]) -> Callable[Asked, Table]:
    """Refuse values outside a closed set, and let `help` and editors show each option of the slice."""
    signature, hints = inspect.signature(function), get_type_hints(function)
    closed = {name: _choices(hint) for name, hint in {**hints, **get_type_hints(SliceOptions)}.items()}

    @wraps(function)
    def checked(*args: Asked.args, **kwargs: Asked.kwargs) -> Table:
        given = signature.bind(*args, **kwargs).arguments
        for name, value in {**given, **given.get("options", {})}.items():
            if closed.get(name) and value is not None and value not in closed[name]:
                raise unknown(name, str(value), closed[name])
        return function(*args, **kwargs)

    shown = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(shown) < len(signature.parameters):
        shown += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name], annotation=hint)
            for name, hint in get_type_hints(SliceOptions).items()
        ]
    checked.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return checked


def _choices(hint: Any) -> tuple[str, ...]:
    """The values of a closed set, which may be optional; () for any other type."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(value for one in get_args(hint) if get_origin(one) is Literal for value in get_args(one))


def _names(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _slice(testset: str, lp: str, options: SliceOptions) -> Slice:
    """Raises QuestionError: there is no such option."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name not in _DEFAULTS:
            raise unknown("option", name, _DEFAULTS)
        values[_FIELDS.get(name, name)] = _names(value) if name in _PATTERNS else value  # type: ignore[arg-type]
    return Slice(testset, lp, **values)


def _measure(given: str | Measure) -> Measure:
    return Measure.parse(given) if isinstance(given, str) else given


def _measures(given: Names | Measure | Sequence[Measure]) -> list[Measure]:
    several = [given] if isinstance(given, str | Measure) else given
    return list(dict.fromkeys(_measure(one) for one in several))


@_question
def rank(
    warehouse: Warehouse,
    testset: str,
    lp: str = "all",
    measures: Names | Measure | Sequence[Measure] = DEFAULT_MEASURES,
    *,
    pool: Pooling | None = None,
    significance: bool = False,
    test: Test | None = None,
    population: Population | None = None,
    alternative: Literal["greater", "two-sided"] = "two-sided",
    draws: int = 1000,
    alpha: float = 0.05,
    correction: Correction = "none",
    system_score: SystemScore | None = None,
    seed: int = 0,
    raw_ties: bool = False,
    round_human: int | None = None,
    verbose: bool = False,
    strict: bool = False,
    **options: Unpack[SliceOptions],
) -> Table:
    """Rank metrics by how well they agree with human scores.

    testset, lp: one, several joined by commas, or "all". measures: such as "spa" or ["pa", "acc_eq(by=item)"].
    significance: test metrics against each other, for the column cluster. population: what the result generalises to:
    new "segments" of these systems (the default where the scores allow it), new "systems" on these segments, or "both".
    Returns one row for each measure and metric, best first; undefined values are null and last.
    Raises QuestionError: unknown names, a slice with nothing in it, or no metric that can be ranked.
    """
    testing = TestOptions(
        test=test, population=population, alternative=alternative, draws=draws, alpha=alpha, correction=correction
    )
    found = read(
        warehouse,
        _slice(testset, lp, options),
        _measures(measures),
        Options(system_score, seed, raw_ties, round_human),
        testing if significance else None,
        strict=strict,
    )
    table = ranked(found, pool, verbose=verbose)
    first = [name for name in _FIRST if name in table.frame.columns]
    rest = [name for name in table.frame.columns if name not in (*first, "signature")]
    return Table(table.frame.select(*first, *rest, "signature"), table.signature, table.notes)


@_question
def compare(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    measure: str | Measure = "spa",
    *,
    test: Test | None = None,
    population: Population | None = None,
    alternative: Literal["greater", "two-sided"] = "two-sided",
    draws: int = 1000,
    alpha: float = 0.05,
    correction: Correction = "none",
    plus_one: bool = False,
    early_stop: bool = False,
    unit: Literal["segment", "document"] = "segment",
    legacy_df: bool = False,
    absolute: bool = False,
    resample: Resample = "inputs",
    interval: IntervalMethod | None = None,
    n_threads: int | None = None,
    system_score: SystemScore | None = None,
    seed: int = 0,
    raw_ties: bool = False,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Test every metric against every other: p-values and significance clusters.

    population: what the result generalises to: new "segments" of these systems (the default where the scores allow it),
    new "systems" on these segments, or "both". test: this one instead of one that holds its level for the population.
    unit: what is swapped for new segments; "document" where segments of a document are alike.
    Returns a row for each metric: rank, metric, value, cluster, and a column of p-values for each metric: that the two
    differ or, with alternative "greater", that the metric of the row is better. Where the slice leaves two metrics: a
    row for each applicable test of the two.
    Raises QuestionError: unknown names, a test that does not apply to the measure, fewer than two metrics.
    """
    parsed = _measure(measure)
    testing = TestOptions(
        test=test,
        population=population,
        alternative=alternative,
        draws=draws,
        alpha=alpha,
        correction=correction,
        plus_one=plus_one,
        early_stop=early_stop,
        whole_documents=unit == "document",
        legacy_df=legacy_df,
        absolute=absolute,
        resample=resample,
        interval=interval,
        n_threads=n_threads,
    )
    computing = Options(system_score, seed, raw_ties, round_human)
    block = Inputs(warehouse, _slice(testset, lp, options), round_human).block(parsed)
    found = settled(pending(warehouse, block, parsed, computing, testing), None)
    if found.pairwise is not None:
        two = found.pairwise
        return Table(pair_frame(two), two.signature, (*two.words, *two.notes, *found.notes))
    assert found.comparison is not None
    notes = (
        f"{found.comparison.n_significant} pairs of metrics differ significantly, {found.comparison.n_clusters} "
        f"clusters, {found.comparison.n_distinct} distinct values",
        *found.comparison.notes,
        *found.notes,
    )
    return Table(matrix_frame(found.comparison), found.comparison.signature, notes)


@_question
def protocol(
    warehouse: Warehouse,
    testset: str,
    lp: str | None = None,
    *,
    rules: str | None = None,
    human: str | None = None,
    reference: str | None = None,
    all_metrics: bool = False,
    significance: bool = False,
    population: Population | None = None,
    alternative: Literal["greater", "two-sided"] | None = None,
    draws: int = 1000,
    alpha: float = 0.05,
    system_score: SystemScore | None = None,
    seed: int = 0,
    raw_ties: bool = False,
    round_human: int | None = None,
) -> Table:
    """Score metrics by a shared task's own rules: every task, the overall score, ranks and, if tested, clusters.

    lp: None for the official language pairs; one, several joined by commas, or "all". rules: whose, such as "wmt24";
    None for the test set's own.
    Raises QuestionError: unknown names, or no metric that can be scored.
    """
    computing = Options(system_score, seed, raw_ties, round_human)
    lps = [name for _, name in expand(warehouse, testset, lp, human).chosen] if lp is not None else None
    entry = enter(
        warehouse,
        protocol_named(rules or testset),
        testset,
        lps=lps,
        asked=Slice(testset, "", human=human, reference=reference),
        all_metrics=all_metrics,
        options=computing,
    )
    testing = TestOptions(population=population, alternative=alternative, draws=draws, alpha=alpha)
    found = score(entry, significance=significance, options=computing, testing=testing)
    return Table(score_frame(found), found.signature, (*found.notes, *missing_lines(found), *beside_lines(found)))


@_question
def systems(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    scorer: str | None = None,
    *,
    test: SystemTest = "permutation",
    draws: int = 1000,
    alpha: float = 0.05,
    unit: Literal["segment", "document"] = "segment",
    system_score: Literal["mean", "judged-mean"] | None = None,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Test every system against every other by one scorer: p-values and clusters of systems.

    The slice's option `systems` restricts which. scorer: a metric; None for the human score. unit: what is resampled
    and compared, "document" where segments of a document are alike.
    Returns a row for each system: rank, system, value, cluster, submitted score, and a column of p-values for each.
    Raises QuestionError: unknown names, or no two systems with segment scores.
    """
    computing = Options(system_score, seed, round_human=round_human)
    found = compare_systems(
        warehouse,
        _slice(testset, lp, options),
        scorer,
        test,
        computing,
        draws=draws,
        alpha=alpha,
        whole_documents=unit == "document",
    )
    notes = (f"{found.n_significant} pairs of systems differ significantly, {found.n_clusters} clusters", *found.notes)
    return Table(systems_frame(found), found.signature, notes)


@_question
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
    asked = _slice(testset, lp, options)
    return pair_counting.pair_counts(warehouse, asked, by, epsilon, round_human, engine=engine, session=session)


@_question
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
    return averaging.system_means(warehouse, _slice(testset, lp, options), engine, session=session)


@_question
def ties(
    warehouse: Warehouse, testset: str, lp: str, *, round_human: int | None = None, **options: Unpack[SliceOptions]
) -> Table:
    """Count tied pairs of the human score and of every metric, and pairs tied at a human score of 0."""
    return tying.ties(warehouse, _slice(testset, lp, options), round_human)


@_question
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
    asked, computing = _slice(testset, lp, options), Options(round_human=round_human)
    if curve:
        return calibrating.curve(warehouse, asked, _measure(measure), computing, points)
    return calibrating.thresholds(warehouse, asked, _measure(measure), computing)


@_question
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
    return agreement.agreement(warehouse, _slice(testset, lp, options), _measure(measure), Options(system_score))


@_question
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
    found = lay(warehouse, _slice(testset, lp, options), metric, computing)
    return Table(found.view(view), found.signature, (*found.words, *found.notes))


@_question
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
    draws: int = 1000,
    alpha: float = 0.05,
    system_score: SystemScore | None = None,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Follow a measure over the years.

    view: "years": a row for each evaluation set and group, with the gap to the anchor on the same data; with pool, one
    for each year and protocol. "within": slopes over publication years within each evaluation set, pooled.
    "over-years": the trend of the yearly gaps, tested by permuting years. "bridges": sets with two human protocols.
    by: "family", "version", "kind", "best", one or several. published: publication years by base name or pattern.
    Raises QuestionError: unknown names, or no evaluation set with a value.
    """
    ways = _names(by)
    for way in ways:
        if way not in BYS:
            raise unknown("by", way, BYS)
    computing, testing = Options(system_score, seed, round_human=round_human), TestOptions(draws=draws, alpha=alpha)
    asked = _slice(testset, lp, options)
    found = history(lambda: nullcontext(warehouse), asked, _measure(measure), computing, testing, anchor)
    years = tuple((published or {}).items())
    shown = show(
        found,
        TrendView(view, ways, pool, years, without_contaminated, alpha, seed),  # type: ignore[arg-type]
    )
    return shown.table


@_question
def deltas(
    warehouse: Warehouse,
    metric: str,
    testset: str = "all",
    lp: str = "all",
    *,
    agreement: Sequence[float] = differences.LEVELS,
    human_alpha: float | None = None,
    percent: bool = False,
    draws: int = 1000,
    system_score: SystemScore | None = None,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """How large a metric's difference between two systems must be for people to agree with it.

    agreement: shares of pairs that the metric must order as people do. human_alpha: only pairs that people tell apart
    at this significance level. percent: multiply scores between 0 and 1 by 100 where other sets have a scale to 100.
    Returns a row for each human protocol, direction and share: delta, its interval, pairs and sets behind it; delta is
    null where the share is not reached.
    Raises QuestionError: unknown names, or no pair of systems.
    """
    what = differences.Asked(tuple(agreement), human_alpha, percent, draws, seed)
    computing = Options(system_score, seed, round_human=round_human)
    return differences.deltas_table(
        differences.deltas(warehouse, _slice(testset, lp, options), metric, computing, what)
    )


@_question
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
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Pairs of systems that at most so many metrics order as people do, those of fewest metrics first.

    least_metrics: evaluation sets with fewer metrics are left out. significant: only pairs that people tell apart at
    level alpha (Wilcoxon's signed-rank test).
    Returns a row for each pair: the systems, people's difference and its p, how many metrics are right, and which.
    """
    what = hardness.Asked(at_most, least_metrics, alpha, significant)
    computing = Options(system_score, round_human=round_human)
    return hardness.hard_pairs(warehouse, _slice(testset, lp, options), computing, what).table


def paper(
    warehouse: Warehouse,
    name: str,
    item: str,
    testset: str | None = None,
    lp: str | None = None,
    *,
    human: str | None = None,
    metrics: Names = (),
    draws: int | None = None,
    seed: int = 0,
) -> Table:
    """Recompute a table or figure of a paper, each value beside the printed one.

    name: such as "thompson-2024"; item: such as "table-1". testset, lp: joined by commas or "all"; None for the paper's
    own. metrics: of a figure that shows one or two. draws: None for the paper's number of resamples.
    Returns a row for each value; verdict: "met", "noise", "explained", "differs", "not_loaded" or "new".
    Raises QuestionError: unknown names, or nothing can be computed on what was named.
    """
    found = paper_named(name)
    request = Request(lambda: nullcontext(warehouse), seed, draws, _names(metrics))
    return results_table([run_item(request, found, item_named(found, item), testset, lp, human)])


@_question
def noise(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    metric: str | None = None,
    measures: Names | Measure | Sequence[Measure] = injection.DEFAULT_MEASURES,
    *,
    kinds: Names = KINDS,
    strengths: Sequence[float] = injection.STRENGTHS,
    shares: Sequence[float] = injection.SHARES,
    draws: int = 20,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """What rising noise in a metric does to each measure; metric: None for the human score itself.

    kinds: noise on each score, a bias of each segment or system, outliers. strengths: in standard deviations of the
    metric; shares: of scores that become outliers.
    Returns a row for each kind, measure and strength: mean value over draws, 5 and 95%, standard deviation.
    Raises QuestionError: unknown names, or a metric without scores for all that is judged.
    """
    for kind in _names(kinds):
        if kind not in KINDS:
            raise unknown("kind", kind, KINDS)
    chosen: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind in _names(kinds))
    what = injection.Asked(chosen, tuple(strengths), tuple(shares), draws, seed)
    computing = Options(seed=seed, round_human=round_human)
    return injection.noise(warehouse, _slice(testset, lp, options), metric, _measures(measures), computing, what)


@_question
def oracles(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    measures: Names | Measure | Sequence[Measure] = injection.DEFAULT_MEASURES,
    *,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Metrics made of the errors that people marked, under other weights, and the order in which measures put them.

    Returns a row for each measure and oracle, with its rank, and for each further human score of segments.
    Raises QuestionError: unknown names, or neither errors nor a further human score.
    """
    computing = Options(seed=seed, round_human=round_human)
    return made_of_errors.oracles(warehouse, _slice(testset, lp, options), _measures(measures), computing)


@_question
def audit(warehouse: Warehouse, testset: str | None = None, lp: str | None = None, *, check: Names = ()) -> Table:
    """What is wrong or odd in the data: copies, shifts, wrong signs, gaps, noise, known issues.

    check: only these checks. Columns: severity, check, what is found, and the SQL that shows it.
    """
    found = find(warehouse, testset, lp, _names(check))
    where = " ".join(name for name in (testset, lp) if name) or "all"
    return Table(findings_frame(found), f"audit:{where}", ())
