"""A point of a history: a measure on one evaluation set by one human score, with gaps to an anchor and context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from metaeval import kernels
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.bootstrap import Resample, bootstrap, interval
from metaeval.kernels.resampling.difference_tests import NORMAL, TOLERANCE, from_z
from metaeval.measures.applicable import IN_WORDS, JACKKNIVES, with_unit
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, Population, TestOptions
from metaeval.results.cache import content
from metaeval.results.evaluation import Evaluation, evaluate, rankable, without_variation
from metaeval.results.inputs import no_metric
from metaeval.results.remarks import remarks
from metaeval.results.signature import Parts, interval_in_words, line, measure_parts
from metaeval.studies.people.ceilings import Ceiling
from metaeval.studies.ranking.intervals import CONFIDENCE, within_range
from metaeval.studies.significance.metric_tests import chosen, fitted_options, has_unit, parts_of_test, run_test
from queries.blocks import Block
from queries.selection import MetricChoice
from warehouse import QuestionError
from warehouse.facts.metrics import describe, folded
from warehouse.wording import are, counted

_STREAM = 5  # of the seed: draws of their own, which no test shares
#: With fewer systems many gaps are the same without any one of them (`benchmarks/gap_coverage.py`).
FEWEST_SYSTEMS = 6


@dataclass(frozen=True)
class Resamples:
    """values: (M,) of the metrics. draws: (M, n) the same on resamples in which all are defined; n is 0 without any.

    resampled: "systems", "both" (systems and segments) or "inputs" (segments), also without resamples. by_document:
    segments are resampled by whole documents. reason: why there are no resamples.
    """

    measure: Measure
    values: Floats
    draws: Floats
    resampled: Resample
    reason: str | None = None
    by_document: bool = False

    @property
    def population(self) -> Population:
        """The population to which intervals, and the corresponding tests, generalise."""
        return "segments" if self.resampled == "inputs" else self.resampled

    @property
    def is_empty(self) -> bool:
        return bool(self.draws.shape[1] < 2)

    def interval(self) -> tuple[Floats, Floats]:
        """Ends of the 95% interval of each metric's value, (M,), by the measure's own type of interval."""
        if self.is_empty:
            return np.full(len(self.values), np.nan), np.full(len(self.values), np.nan)
        found = [
            interval(float(value), own, method=self.measure.interval)
            for value, own in zip(self.values, self.draws, strict=True)
        ]
        return within_range(self.measure, np.array([one.low for one in found]), np.array([one.high for one in found]))

    def covariance(self) -> Floats:
        """(M, M) covariance of the metrics' values; NaN without resamples."""
        n = len(self.draws)
        return np.full((n, n), np.nan) if self.is_empty else np.atleast_2d(np.cov(self.draws))


def resamples(
    measure: Measure, block: Block, evaluation: Evaluation, options: Options, testing: TestOptions | None
) -> Resamples:
    """Values of a measure on resamples of a block whose metrics are those of the evaluation, all with a value.

    System scores that are not means over judged segments are resampled by systems; everything else by systems and
    segments, but only by segments if the measure has no test for both. The unit decides whether segments or documents
    are resampled. testing: its resamples and its unit; None if nothing is resampled.
    """
    none = np.empty((len(block.metrics), 0))
    by_systems = None
    if options.system_score != "judged-mean":
        by_systems = measure.resampled_systems(block, options)
    rng = np.random.default_rng([options.seed, _STREAM])
    of_segments: Resample = "inputs" if measure.holding_test("both") is None else "both"
    what: Resample = of_segments if by_systems is None else "systems"
    try:
        epsilon = evaluation.epsilon if measure.is_calibrated else None
        if testing is None:
            return Resamples(measure, evaluation.value, none, what)
        statistic, by_document = by_systems, False
        if statistic is None:
            units = measure.units(block, testing.unit)
            statistic = units.resampled(measure.as_resampled(units).resampled(block, options, epsilon))
            by_document = units.documents is not None
        drawn = bootstrap(statistic, what, rng=rng, n_draws=testing.resamples)
    except (QuestionError, ValueError) as error:
        return Resamples(
            measure, evaluation.value, none, what, error.text if isinstance(error, QuestionError) else str(error)
        )
    draws = drawn.draws[:, ~np.isnan(drawn.draws).any(axis=0)]
    reason = None if draws.shape[1] > 1 else "no resample has a value for every metric"
    return Resamples(measure, evaluation.value, draws, what, reason, by_document)


@dataclass(frozen=True)
class ResampleCache:
    """Resamples computed so far, because a bridge's block is often the official one. intervals: whether to resample."""

    intervals: bool = True
    by_content: dict[str, Resamples] = field(default_factory=dict)

    def resamples(
        self, measure: Measure, block: Block, evaluation: Evaluation, options: Options, testing: TestOptions
    ) -> Resamples:
        """See `resamples`; blocks with the same scores share resamples, however their systems were selected."""
        if not self.intervals:
            return resamples(measure, block, evaluation, options, None)
        chosen = block.selection
        key = content(replace(block, selection=replace(chosen, slice=replace(chosen.slice, systems=()))))
        if key not in self.by_content:
            self.by_content[key] = resamples(measure, block, evaluation, options, testing)
        return self.by_content[key]


@dataclass(frozen=True)
class Context:
    """Properties of the data behind a value, NaN where unavailable.

    human_sd: standard deviation of the human system scores. significant_pairs: share of system pairs whose human scores
    differ significantly (paired permutation test, normal approximation, two-sided, 5%). tied_pairs: share of pairs of
    systems with equal human scores on a segment. coverage: share of (system, segment) pairs with a human score.
    """

    n_systems: int
    n_segments: int
    human_sd: float
    significant_pairs: float
    tied_pairs: float
    coverage: float


@dataclass(frozen=True)
class Point:
    """One measure on one evaluation set; arrays are (M,), aligned with metrics, NaN where undefined.

    bridge: the other human score of a bridge, None for the official one. low, high: 95% bootstrap interval of value.
    anchor: the metric to which gaps are measured, None if there is none. gap_low, gap_high: 95% interval of the gap
    from the paired test with the two-sided p-value gap_p; gap_error: half of its width over the normal quantile, 1.96.
    covariance: (M, M) of the values over resamples. excluded: base name -> reason. generalises: the population of gaps,
    in words that name the unit; None without a test.
    """

    testset: str
    lp: str
    human: str
    bridge: str | None
    measure: str
    metrics: tuple[str, ...]
    base_names: tuple[str, ...]
    reference_free: tuple[bool, ...]
    value: Floats
    low: Floats
    high: Floats
    anchor: str | None
    gap: Floats
    gap_low: Floats
    gap_high: Floats
    gap_error: Floats
    gap_p: Floats
    covariance: Floats
    excluded: dict[str, str]
    context: Context
    ceiling: Ceiling | None
    signature: str
    notes: tuple[str, ...]
    generalises: str | None = None


def point(
    block: Block,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    anchor: str,
    *,
    bridge: str | None = None,
    ceiling: Ceiling | None = None,
    cache: ResampleCache | None = None,
) -> Point:
    """Everything about one measure on one block.

    testing: resamples and level of the test; its test and alternative are set here. cache: shared by the points of one
    evaluation set.

    Raises QuestionError: no metric of the block can be ranked or has a value, or the human score has no scores that the
    measure needs.
    """
    used, excluded = rankable(measure, block, options)
    evaluation = evaluate(measure, used, options)
    if not evaluation.metrics:
        needs_segments = measure.definition.needs_segments
        raise no_metric(
            block.selection, excluded, can=f"can be ranked by {measure}", needs_segments=needs_segments, by_measure=True
        )
    if evaluation.n_judged == 0 and measure.definition.needs_segments:
        raise QuestionError(f"human score {block.selection.human!r} has no segment scores, which {measure} needs")
    defined = ~np.isnan(evaluation.value)
    if not defined.any():
        reason = without_variation(measure, block, options)
        raise QuestionError(f"{measure} is not defined" + ("" if reason is None else f", {reason}"))
    why = {metric.base_name: str(excluded[metric.name]) for metric in block.metrics if metric.name in excluded}
    undefined = [metric for metric, there in zip(used.metrics, defined, strict=True) if not there]
    why |= {metric.base_name: f"{measure} is not defined" for metric in undefined}
    if not defined.all():
        used = used.take(metrics=defined)
        evaluation = evaluate(measure, used, options)
    names = tuple(metric.name for metric in used.metrics)
    place = anchor_place(used.metrics, anchor)
    found = (cache or ResampleCache()).resamples(measure, used, evaluation, options, testing)
    p, reach, of_test, reasons = _tested(used, measure, options, testing, place, found.population)
    tested = dict(of_test)
    nothing = np.full(len(names), np.nan)
    low, high = found.interval()
    gap = nothing if place is None else evaluation.value - evaluation.value[place]
    gap_low, gap_high = gap - reach, gap + reach
    if place is not None and measure.z_of and tested.get("test") in JACKKNIVES:
        n_systems = int(np.count_nonzero(~np.isnan(measure.scores(used, options).human)))
        gap_low, gap_high = from_z(evaluation.value, place, reach, n_systems - 1, measure.z_of)
    selection = block.selection
    anchored = None if place is None else names[place]
    return Point(
        testset=selection.slice.testset,
        lp=selection.slice.lp,
        human=str(selection.human),
        bridge=bridge,
        measure=str(measure),
        metrics=names,
        base_names=tuple(metric.base_name for metric in used.metrics),
        reference_free=tuple(metric.reference is None for metric in used.metrics),
        value=evaluation.value,
        low=low,
        high=high,
        anchor=anchored,
        gap=gap,
        gap_low=gap_low,
        gap_high=gap_high,
        gap_error=(gap_high - gap_low) / (2 * NORMAL),
        gap_p=p,
        covariance=found.covariance(),
        excluded={**_not_selected(block), **why},
        context=context(block, measure, options),
        ceiling=ceiling,
        signature=line(
            [
                *measure_parts(evaluation, selection, options),
                *_gap_parts(found, anchored, of_test, options, testing),
            ]
        ),
        notes=(*remarks(block), *_notes(found, anchor, place, reasons)),
        generalises=_in_words(found.population, tested.get("unit")) if of_test else None,
    )


def _in_words(population: Population, unit: object) -> str:
    """
    >>> _in_words("systems", None), _in_words("both", "document")
    ('new systems on these segments', 'new systems and new documents')
    """
    return with_unit(IN_WORDS[population], unit)


def anchor_place(metrics: Sequence[MetricChoice], anchor: str) -> int | None:
    """Index of the anchor, given by variant or base name, ignoring case and dashes; reference-based variants first.

    If it is missing, another implementation of the same metric: one of its family, published in the same paper.
    """
    wanted, facts = folded(anchor), describe(anchor)
    of_paper = [
        (one.family, one.publication) == (facts.family, facts.publication) and facts.publication is not None
        for one in (describe(metric.base_name) for metric in metrics)
    ]
    by_name = [folded(metric.name) == wanted for metric in metrics]
    by_base = [folded(metric.base_name) == wanted for metric in metrics]
    for matching in (by_name, by_base, of_paper):
        places = [place for place, fits in enumerate(matching) if fits]
        if places:
            return min(places, key=lambda place: (metrics[place].reference is None, metrics[place].name))
    return None


def _tested(
    block: Block, measure: Measure, options: Options, testing: TestOptions, anchor: int | None, population: Population
) -> tuple[Floats, Floats, Parts, list[str]]:
    """Two-sided p-values (M,) against the anchor, half-widths of 95% intervals of gaps, signature, and notes.

    The test is the one that holds its level for the resampled population; notes say why values are missing. p-values
    and half-widths are NaN for a metric whose gap is the same in all resamples.
    """
    p, reach = np.full(len(block.metrics), np.nan), np.full(len(block.metrics), np.nan)
    if anchor is None or len(block.metrics) < 2:
        return p, reach, [], []
    n_systems = int(np.count_nonzero(~np.isnan(measure.scores(block, options).human)))
    if population != "segments" and n_systems < FEWEST_SYSTEMS:
        return p, reach, [], [few_systems(n_systems)]
    try:
        wanted = TestOptions(
            population=population,
            alternative="two-sided",
            resamples=testing.resamples,
            alpha=testing.alpha,
            unit=testing.unit,
            threads=testing.threads,
        )
        fitted = chosen(measure, block, options, wanted)
        assert fitted.test is not None
        its_options = fitted_options(measure, fitted.test, options, block.selection.slice)
        tested = run_test(block, measure, its_options, fitted)
    except QuestionError as error:
        return p, reach, [], [f"no p-values: {error.text}"]
    place_of = {metric.name: place for place, metric in enumerate(tested.block.metrics)}
    if block.metrics[anchor].name in place_of:
        other = place_of[block.metrics[anchor].name]
        for place, metric in enumerate(block.metrics):
            if metric.name in place_of and place != anchor:
                p[place] = tested.p[place_of[metric.name], other]
                if tested.reach is not None:
                    reach[place] = tested.reach[place_of[metric.name], other]
    alike = reach <= TOLERANCE
    p[alike], reach[alike] = np.nan, np.nan
    said = [] if tested.why is None else [f"there are no p-values: {tested.why}"]
    if alike.any():
        said.append(_same_gap([one.name for one, same in zip(block.metrics, alike, strict=True) if same], measure))
    if testing.unit is not None and not has_unit(measure, fitted.test):
        said.append(f"unit {testing.unit} changes nothing: gaps of {measure} are for {IN_WORDS[population]}")
    return p, reach, parts_of_test(tested, its_options, fitted), said


def few_systems(n: int) -> str:
    """Why a gap has neither interval nor p.

    >>> few_systems(5)
    'gaps have no p-values or intervals: there are 5 systems, and an interval for new systems needs 6'
    """
    needed = f"an interval for new systems needs {FEWEST_SYSTEMS}"
    return f"gaps have no p-values or intervals: there {are(n)} {counted(n, 'system')}, and {needed}"


def _same_gap(names: Sequence[str], measure: Measure) -> str:
    return (
        f"{', '.join(names)} {are(len(names), have=True)} no p-value or "
        f"interval, because {measure} minus the anchor's is the same in all "
        "resamples"
    )


def _gap_parts(found: Resamples, anchor: str | None, of_test: Parts, options: Options, testing: TestOptions) -> Parts:
    interval = None
    if found.draws.size or found.reason is not None:
        what = f"{found.resampled},by_document" if found.by_document else found.resampled
        interval = interval_in_words(CONFIDENCE, found.measure.interval, what, testing.resamples, options.seed)
    return [("anchor", anchor), *of_test, ("interval", interval), ("gap_interval", "test" if of_test else None)]


def _notes(found: Resamples, anchor: str, place: int | None, reasons: Sequence[str]) -> list[str]:
    lines = [] if found.reason is None else [f"there are no intervals: {found.reason}"]
    lines += [] if place is not None else [f"there are no gaps: the anchor {anchor} has no value here"]
    return [*lines, *reasons]


def _not_selected(block: Block) -> Mapping[str, str]:
    """Base name -> why the selection excludes the metric; of its variants, the one with the reference in use counts."""
    selection = block.selection
    chosen = {metric.base_name for metric in selection.chosen_metrics}
    ordered = sorted(selection.metrics, key=lambda one: one.reference in (None, selection.reference))
    return {one.base_name: str(one.reason) for one in ordered if one.reason is not None and one.base_name not in chosen}


def context(block: Block, measure: Measure, options: Options) -> Context:
    """Properties of the data behind the values on a block."""
    human = measure.scores(block, options).human
    there = human[~np.isnan(human)]
    judged = block.judged
    n = len(block.systems)
    first, second = np.triu_indices(n, 1)
    significant = tied = coverage = float("nan")
    if judged.any() and n > 1:
        used = judged.any(axis=0)
        p = kernels.normal_p_values(block.human[np.newaxis][:, :, used], judged[:, used])[0]
        significant = float(np.mean(2 * np.minimum(p[first, second], p[second, first]) <= 0.05))
        common = judged[first] & judged[second]
        n_common = int(common.sum())
        equal = (block.human[first] == block.human[second]) & common
        tied = float(equal.sum() / n_common) if n_common else float("nan")
        coverage = float(judged.mean())
    return Context(
        n_systems=len(there),
        n_segments=block.n_judged_segments,
        human_sd=float(there.std(ddof=1)) if len(there) > 1 else float("nan"),
        significant_pairs=significant,
        tied_pairs=tied,
        coverage=coverage,
    )
