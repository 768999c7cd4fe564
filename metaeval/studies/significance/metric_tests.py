"""A test of a slice's metrics: the system scores used, exclusions, p-values, false-positive rates and signature."""

import csv
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import numpy as np

from metaeval.kernels.arrays.checks import Floats
from metaeval.measures.applicable import BY_UNIT, IN_WORDS, JACKKNIVES, PERMUTATIONS, PUBLISHED, VARYING, with_unit
from metaeval.measures.judged import LEAST_UNITS, least_p_value, units_of
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, Population, Test, TestOptions, TestUnit
from metaeval.results.evaluation import Evaluation, evaluate
from metaeval.results.inputs import check_whole, no_metric
from metaeval.results.notes import Decisive
from metaeval.results.signature import Parts, measure_parts, p_value_convention
from metaeval.studies.significance.runner import run, units_of_test
from queries.blocks import Block
from queries.reasons import Exclusion
from queries.slices import Scored, Slice
from warehouse import QuestionError
from warehouse.progress import Progress
from warehouse.wording import are, counted, option

#: What two metrics have in common: a measure's expected value, or the law of all their scores.
Null = Literal["equal", "exchangeable"]
NULLS: tuple[Null, ...] = get_args(Null)
NOMINAL = 0.05
LEAST_WORLDS = 200  # with fewer a level is not known well enough to be stated
MID_P = " mid_p"  # after a test's name: ties count half
BY_DOCUMENT = " by document"  # after a test's name: whole documents are swapped, resampled or left out
BY_ANNOTATOR = " by annotator"
LEAST_SYSTEMS = 3  # with fewer there is no test
_MOST_NAMED = 3
OFF = 0.5  # of the nominal level: further off than this is reported


@dataclass(frozen=True)
class Level:
    """False-positive rate: share of simulated data sets in which a test has p ≤ 0.05, and the data behind them."""

    share: float
    data: str

    @property
    def distance(self) -> float:
        """Distance from the nominal level."""
        return abs(self.share - NOMINAL)

    @property
    def is_off(self) -> bool:
        """Whether the rate differs from the nominal level by more than half of it."""
        return self.distance > OFF * NOMINAL


def _counted() -> str:
    """The simulated counts: rows of levels.csv."""
    return files(__package__).joinpath("levels.csv").read_text(encoding="utf-8")


@cache
def levels_checksum() -> str:
    """Checksum of the measured levels; stored results with a different checksum are recomputed."""
    return hashlib.sha256(_counted().encode()).hexdigest()[:16]


@cache
def _measured() -> dict[tuple[str, str, str, str], tuple[Level, ...]]:
    """(measure, test, population, null) -> levels on every kind of data."""
    found: dict[tuple[str, str, str, str], tuple[Level, ...]] = {}
    for row in csv.DictReader(_counted().splitlines()):
        n_worlds = int(row["n_worlds"])
        if float(row["effect"]) == 0 and n_worlds >= LEAST_WORLDS:
            key = (row["measure"], row["test"], row["population"], row["null"])
            found[key] = (*found.get(key, ()), Level(int(row["n_found"]) / n_worlds, row["data"]))
    return found


def measured_levels(
    measure: Measure, test: Test, population: Population, *, mid_p: bool = False, unit: TestUnit | None = None
) -> Mapping[Null, Level]:
    """Level of a test for a population, by null hypothesis: the furthest from nominal over kinds of data, if measured.

    mid_p: with ties counted half, which matters only for measures with few distinct values. unit: for a test by
    document if documents are new, or by annotator if annotators are.
    """
    named = f"{test}{MID_P}" if mid_p and measure.takes_few_values else test
    by_unit: dict[TestUnit | None, tuple[str, str]] = {
        "document": (f"{named}{BY_DOCUMENT}", "documents"),
        "annotator": (f"{named}{BY_ANNOTATOR}", "annotators"),
    }
    named, drawn = by_unit.get(unit, (named, population))
    found = {null: _measured().get((measure.measured_as, named, drawn, null), ()) for null in NULLS}
    return {null: max(levels, key=lambda one: one.distance) for null, levels in found.items() if levels}


def chosen(measure: Measure, block: Block, options: Options, testing: TestOptions) -> TestOptions:
    """The requested testing options, completed with a test and a population that fit each other, and the unit.

    Default test: the one whose false-positive rate is closest to alpha for the population. Default population: new
    segments, if the scores allow it (`Measure.default_population`). Default unit: see `Measure.units`, but segments if
    a named test was published with segments.
    Raises QuestionError: the test does not apply to the measure or the population; no test does; see `Measure.units`.
    """
    found = _chosen(measure, block, options, testing)
    assert found.test is not None
    if not has_unit(measure, found.test):
        return found
    unit = "segment" if testing.unit is None and testing.test in PUBLISHED else testing.unit
    return replace(found, unit=measure.units(block, unit).unit)


def has_unit(measure: Measure, test: Test) -> bool:
    """Whether a test swaps, resamples or deletes segments, and can do so by whole documents or annotators."""
    return test in BY_UNIT and measure.claims(test) != "systems"


def _chosen(measure: Measure, block: Block, options: Options, testing: TestOptions) -> TestOptions:
    asked = testing.population
    if testing.test is not None:
        measure.check_applies(testing.test)
        claimed = measure.claims(testing.test)
        if asked not in (None, claimed) and testing.test != measure.holding_test(asked):
            raise QuestionError(
                f"test {testing.test!r} of {str(measure)!r} is for population {claimed!r}, not for {asked!r}; "
                "leave out one of the two"
            )
        return replace(testing, population=asked or claimed)
    n_systems = len(block.systems)
    if asked is None:
        population = measure.default_population(options.system_score, not _without_segments(block))
        return by_default(measure, measure.holding_test(population, n_systems) or measure.tests[0], population, testing)
    return by_default(measure, measure.default_test(asked, n_systems), asked, testing)


def _without_segments(block: Block) -> str | None:
    """Why segments cannot be tested; None if they can."""
    if not block.judged.any():
        return f"{block.selection.human} has no segment scores"
    n = int(np.count_nonzero(block.with_segments))
    return None if n > 1 else f"{counted(n, 'metric')} {are(n, have=True)} segment scores"


def by_default(measure: Measure, test: Test, population: Population, testing: TestOptions) -> TestOptions:
    """Options of a default test: ties count half if the measure has few distinct values, unless set otherwise."""
    if testing.mid_p is None and measure.takes_few_values and test in PERMUTATIONS:
        testing = replace(testing, mid_p=True)
    return replace(testing, test=test, population=population)


def population_in_words(testing: TestOptions, scored: Scored) -> str:
    """The population of a result, in words. scored: what has scores; documents are also new if they are the unit."""
    assert testing.population is not None
    words = IN_WORDS[testing.population]
    return with_unit(words, "document" if scored == "doc" else testing.unit)


def generalises(measure: Measure, testing: TestOptions, block: Block) -> str:
    """The note on the population, the unit, the null hypothesis, ties counted half, and a level far from nominal."""
    assert testing.test is not None
    population = population_in_words(testing, block.selection.slice.level)
    null = "exchangeable" if testing.test in (*PERMUTATIONS, "pairs") else "equally good"
    line = f"generalises to: {population}; null hypothesis: {null} on {population}"
    if testing.population == "systems" and (why := _without_segments(block)):
        line += f"; new segments cannot be tested, because {why}"
    if has_unit(measure, testing.test):
        line += f"; tested {_unit_in_words(measure, block, testing)}"
    if testing.mid_p and measure.takes_few_values:
        line += "; resamples that tie with the data count half (mid-p)"
    levels = levels_of(measure, testing)
    if not any(level.is_off for level in levels.values()):
        return line
    furthest = max(levels.values(), key=lambda level: level.distance)
    which = "too many" if furthest.share > NOMINAL else "too few"
    found = ", ".join(f"{level.share:.3f} between {_METRICS[null]} ({level.data})" for null, level in levels.items())
    return Decisive(
        f"{line}; but {testing.test} finds {which} differences: false-positive rate {found}, nominal {NOMINAL:g} "
        "(docs/levels.md)",
        f"{which} false positives at a nominal rate of {NOMINAL:g} (docs/levels.md):",
        f"{testing.test} {furthest.share:.3f}",
        furthest.distance,
    )


def _unit_in_words(measure: Measure, block: Block, testing: TestOptions) -> str:
    """The unit, with the reason if there are too few documents for the default."""
    units = units_of_test(measure, block, testing)
    by_default = units_of(block.selection, block.judged.any(axis=0))
    return by_default.words if by_default.unit == units.unit else units.words


def too_few(block: Block, measure: Measure, options: Options, testing: TestOptions) -> str | None:
    """Why there is too little data for a test of two metrics; None if there is enough."""
    assert testing.test is not None
    n_systems = LEAST_SYSTEMS
    if measure.level == "sys" or testing.test == "perm-systems":
        n_systems = int(np.count_nonzero(~np.isnan(measure.scores(block, options).human)))
    if measure.level == "sys" and n_systems < LEAST_SYSTEMS:
        return (
            f"there is no test: {counted(n_systems, 'system')} {are(n_systems, have=True)} "
            f"human scores, and it takes at least {LEAST_SYSTEMS}"
        )
    units = units_of_test(measure, block, testing)
    if measure.claims(testing.test) != "systems" and units.n < LEAST_UNITS:
        return (
            f"there is no test: {counted(units.n, units.unit)} {are(units.n, have=True)} "
            f"human scores, and it takes at least {LEAST_UNITS}"
        )
    swapped = {"perm-inputs": (units.n, units.unit), "perm-systems": (n_systems, "system")}.get(testing.test)
    if swapped is not None:
        least = least_p_value(swapped[0], testing.alternative or "two-sided") * (0.5 if testing.mid_p else 1)
        if least > testing.alpha:
            return (
                f"there is no test: of {counted(*swapped)} with human scores, {testing.test} makes no p below {least:g}"
            )
    return None


_METRICS: Mapping[Null, str] = {"equal": "equally good metrics", "exchangeable": "exchangeable metrics"}


def levels_of(measure: Measure, testing: TestOptions) -> Mapping[Null, Level]:
    """The measured levels of a test, by null hypothesis."""
    assert testing.test is not None
    assert testing.population is not None
    return measured_levels(measure, testing.test, testing.population, mid_p=bool(testing.mid_p), unit=testing.unit)


def fitted_options(measure: Measure, test: Test, options: Options, asked: Slice) -> Options:
    """Options with the system scores that a test needs.

    Raises QuestionError: the test does not apply to the measure, or the system scores do not suit the test.
    """
    measure.check_applies(test)
    check_whole(options, asked)
    if measure.level == "sys" and measure.resamples_segments(test):
        if options.system_score not in (None, "judged-mean"):
            raise QuestionError(
                f"test {test!r} takes means over annotated segments as system scores; "
                f"{option('system_score', options.system_score)} does not apply"
            )
        return replace(options, system_score="judged-mean")
    return options


@dataclass(frozen=True)
class MetricTest:
    """A test of all pairs of a block's metrics, in the block's order.

    p: (M, M), [a, b] = p-value that a is better than b, NaN on the diagonal and where a value is undefined. reach: (M,
    M) of the 95% intervals of differences, if the test has them (`runner.TestOutcome`). why: the reason why there is no
    p although metrics have values. is_exact: nothing was resampled, also because no value is defined. excluded: metric
    -> why it is excluded.
    """

    block: Block
    evaluation: Evaluation
    p: Floats
    null: Floats | None
    is_exact: bool
    excluded: Mapping[str, Exclusion]
    reach: Floats | None = None
    why: str | None = None

    @property
    def as_ranked(self) -> "MetricTest":
        """The same without values that get no rank."""
        evaluation = self.evaluation.as_ranked
        without = np.isnan(evaluation.value)
        p = np.where(without[:, np.newaxis] | without, np.nan, self.p)
        return replace(self, evaluation=evaluation, p=p)


def run_test(
    block: Block,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    progress: Progress | None = None,
    evaluation: Evaluation | None = None,
) -> MetricTest:
    """Test the metrics of a block against each other; arguments as in `compare_block`.

    Raises QuestionError: fewer than 2 metrics, or the kernel's reason.
    """
    test = testing.test
    assert test is not None
    excluded = {
        choice.name: choice.reason
        for choice in block.selection.metrics
        if choice.reason is not None and choice.reason.lacks_scores
    }
    needs_segments = measure.definition.needs_segments or measure.resamples_segments(test)
    if needs_segments:
        excluded = excluded | block.excluded
        block = block.take(metrics=block.with_segments)
    if evaluation is None or not set(evaluation.metrics) <= set(block.metrics):
        evaluation = evaluate(measure, block, options)
    ranked = {metric.name for metric in evaluation.metrics}
    block = block.take(metrics=[metric.name in ranked for metric in block.metrics])
    excluded = {**excluded, **evaluation.excluded}
    if not block.metrics:
        raise no_metric(
            block.selection, excluded, can="can be compared", needs_segments=needs_segments, by_measure=True
        )
    if len(block.metrics) < 2:
        others = "; ".join(f"{name}: {why.sentence}" for name, why in list(excluded.items())[:_MOST_NAMED])
        brackets = f" ({others})" if others else ""
        raise QuestionError(f"a comparison needs two metrics; only {block.metrics[0].name} can be compared{brackets}")
    why = too_few(block, measure, options, testing)
    if why is not None or np.isnan(evaluation.value).all():
        nothing = np.full((len(block.metrics),) * 2, np.nan)
        return MetricTest(block, evaluation, nothing, None, is_exact=True, excluded=excluded, why=why)
    advance = None if progress is None else lambda done, total: progress(f"{measure} {test}", done, total)
    epsilon = evaluation.epsilon if measure.is_calibrated else None
    rng = np.random.default_rng([options.seed, 1])
    found = run(measure, [block], epsilon, options, testing, rng, advance)
    without = np.isnan(evaluation.value)
    p = np.where(without[:, np.newaxis] | without, np.nan, found.p)
    return MetricTest(block, evaluation, p, found.null, found.is_exact, excluded, found.reach)


def parts_of_tested_values(tested: MetricTest, options: Options, testing: TestOptions) -> Parts:
    """Parts of the signature of a test over one slice."""
    own = measure_parts(tested.evaluation, tested.block.selection, options)
    return [*own, *parts_of_test(tested, options, testing)]


def parts_of_test(tested: MetricTest, options: Options, testing: TestOptions) -> Parts:
    """Parts of a signature about a test: its name, what it tests, and its resampling."""
    is_exact, test = tested.is_exact, testing.test
    assert test is not None
    measure = tested.evaluation.measure
    units = units_of_test(measure, tested.block, testing) if has_unit(measure, test) else None
    return [
        ("test", test),
        ("population", testing.population),
        ("unit", None if units is None else units.unit),
        ("n_units", None if units is None else units.n),
        ("alternative", testing.side),
        ("test_resamples", "none" if is_exact else testing.resamples),
        ("test_p_value", None if is_exact else _convention(testing)),
        ("alpha", testing.alpha),
        ("correction", testing.correction),
        ("early_stopping", "yes" if testing.early_stop else None),
        ("degrees_of_freedom", ("n-2" if testing.legacy_df else "n-3") if testing.test == "williams" else None),
        ("absolute", "yes" if testing.absolute else None),
        ("scale", "fisher_z" if testing.test in JACKKNIVES and measure.z_of else None),
        ("test_seed", None if is_exact else options.seed),
    ]


def _convention(testing: TestOptions) -> str:
    if testing.test == "bootstrap":
        return "share_not_better" if testing.side == "greater" else "twice_share_not_better"
    if testing.test == "bootstrap-normal":
        return f"{'one' if testing.side == 'greater' else 'two'}_sided,student_t"
    if testing.test in VARYING:
        return "student_t"
    return p_value_convention(testing.side, testing.plus_one, bool(testing.mid_p))
