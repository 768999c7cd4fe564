"""Comparison of two metrics: their difference, its interval, and one test or every applicable one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from metaeval.kernels.agreement.reliability import Interval
from metaeval.kernels.resampling.bootstrap import Resample, bootstrap
from metaeval.kernels.resampling.clusters import best_first
from metaeval.kernels.resampling.difference_tests import GROUPS_WITH_SYSTEMS, TOLERANCE, from_z
from metaeval.kernels.resampling.prepared import IntervalMethod
from metaeval.measures.applicable import IN_WORDS, JACKKNIVES, TOO_NARROW, VARYING, with_unit
from metaeval.measures.judged import Units
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, Population, Test, TestOptions
from metaeval.results.evaluation import by_source, evaluate, undefined
from metaeval.results.notes import excluding
from metaeval.results.remarks import remarks
from metaeval.results.sentences import LONGEST, named, new_units, number
from metaeval.results.signature import interval_in_words, line, spelt
from metaeval.studies.significance.metric_tests import (
    NOMINAL,
    MetricTest,
    chosen,
    fitted_options,
    generalises,
    levels_of,
    parts_of_test,
    parts_of_tested_values,
    population_in_words,
    run_test,
)
from metaeval.studies.significance.options import check_applicable, fitted_to, resolution_of
from queries.blocks import Block
from queries.reasons import by_reason
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.facts.metrics import folded
from warehouse.names import MetricVariant
from warehouse.progress import Progress
from warehouse.wording import are, counted, every

Ends = tuple[float, float]
_Made = tuple[str, str, Resample, int | None, str | None]  # an interval's name, type, units, resamples, system scores
CONFIDENCE = 0.95
_UNITS: Mapping[Resample, str] = MappingProxyType(
    {"inputs": "segments", "systems": "systems", "both": "segments and systems"}
)
_RESAMPLED: Mapping[Population, Resample] = MappingProxyType(
    {"segments": "inputs", "systems": "systems", "both": "both"}
)


@dataclass(frozen=True)
class PairTest:
    """One test of the first metric against the second.

    system_score: the source of the system scores it tests, None at segment level; values: of both metrics by these
    scores, so the second may be ahead. p: that the first is better (that they differ, if two-sided), NaN if a value is
    undefined. resamples: 0 if none were needed. least: a p of 0 means below this. false_positive_rate: measured for the
    population between equally good metrics, false_positive_rate_exchangeable between exchangeable ones
    (`measured_levels`); NaN where not measured.
    """

    test: str
    population: Population
    alternative: str
    system_score: str | None
    values: tuple[float, float]
    p: float
    resamples: int
    least: float
    false_positive_rate: float
    false_positive_rate_exchangeable: float


@dataclass(frozen=True)
class PairwiseComparison:
    """Two metrics compared, the better one first.

    values: of both, as used by the first test. difference: first minus second, over means of judged segments; low,
    high: its 95% interval. If the first test has an interval, it is that one, so it contains 0 exactly if two-sided p >
    .05; it and the difference are then computed from the system scores of that test. value_intervals: (low, high) of
    the two values over the same means; resample, interval: what was resampled, and the type of interval ("student-t" if
    groups of segments were deleted); NaN for a measure whose segments are not resampled. words: the same in sentences.
    by: the measure as sentences name it (`by_source`).
    """

    metrics: tuple[str, str]
    values: tuple[float, float]
    difference: float
    low: float
    high: float
    value_intervals: tuple[Ends, Ends]
    resample: Resample
    interval: str
    tests: tuple[PairTest, ...]
    words: tuple[str, ...]
    notes: tuple[str, ...]
    measure: str
    by: str
    parts: tuple[tuple[str, str], ...]

    @property
    def further_sentences(self) -> tuple[str, ...]:
        """Sentences beyond the first test and the difference: disagreement between tests."""
        return self.words[1:] if np.isnan(self.difference) else self.words[1:-1]

    @property
    def signature(self) -> str:
        return line(self.parts)


def compare_pair(
    block: Block,
    asked: Slice,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    progress: Progress | None = None,
) -> PairwiseComparison:
    """Compare the two metrics of a block in depth (human scores already rounded).

    testing.test: only this test; None = the measure's default, followed by all other applicable tests if
    testing.all_tests. Tests that can use submitted system scores do; the interval resamples segments, so it uses means
    over judged segments.
    """
    if testing.correction != "none":
        raise QuestionError(
            f"correction {testing.correction!r} needs several comparisons, and two metrics make only one"
        )
    settled = chosen(measure, block, options, testing)
    of_units = measure.units(block, settled.unit or testing.unit)
    settled = replace(settled, unit=of_units.unit)
    how: IntervalMethod = testing.interval or measure.interval
    assert settled.population is not None
    units = testing.interval_over or _RESAMPLED[settled.population]
    testing = replace(testing, interval=how, interval_over=units)
    tests, notes = tests_of_pair(block, measure, settled, is_alone=testing.test is not None or not testing.all_tests)
    check_applicable(testing, tests)
    found = [_tested(block, asked, measure, options, settled, test, progress) for test in tests]
    main, main_options, main_testing = found[0]
    first, second = best_first(main.evaluation.value)
    names = (block.metrics[first].name, block.metrics[second].name)
    rows = tuple(_row(tested, its_testing, (first, second)) for tested, _, its_testing in found)
    difference, ends = _bootstrapped(block, measure, options, testing, (first, second), units, of_units, progress)
    scores = "judged-mean" if measure.level == "sys" else None
    if main.evaluation.by_order is not None and main.evaluation.by_order.any():
        difference = Interval(np.nan, np.nan, np.nan)
    made: list[_Made] = [("interval", str(how), units, testing.resamples, scores)]
    own = "student-t"
    is_of_test = units == _RESAMPLED[settled.population] and settled.interval is None
    if main.reach is not None and is_of_test:
        difference = _of_test(main, main_options, main_testing, (first, second))
        made = [("value_interval", *made[0][1:])]
        varied: Resample = "systems" if main_testing.test == "jackknife-systems" else units
        made.append(("interval", own, varied, None if main.is_exact else testing.resamples, rows[0].system_score))
    how_varied = "leaving out" if made[-1][1] == own and main_testing.test in VARYING else "resampling"
    limited = f",measure={measure.in_simulations}" if _takes_minutes(measure, block, testing) else ""
    intervals = [
        (
            name,
            interval_in_words(CONFIDENCE, one, of, n_draws, options.seed)
            + ("" if source is None else f",system_score={source}")
            + (f",unit={of_units.unit}" if of_units.unit != "segment" and of != "systems" else "")
            + limited,
        )
        for name, one, of, n_draws, source in made
    ]
    return PairwiseComparison(
        metrics=names,
        values=rows[0].values,
        difference=difference.value,
        low=difference.low,
        high=difference.high,
        value_intervals=ends,
        resample=made[-1][2],
        interval=made[-1][1],
        tests=rows,
        words=_words(
            names,
            measure,
            rows,
            difference,
            testing,
            made[-1],
            f"{how_varied} {_UNITS[made[-1][2]].replace('segment', of_units.unit)}",
            population_in_words(main_testing, block.selection.slice.level),
        ),
        notes=(
            generalises(measure, main_testing, main.block),
            *([main.why] if main.why else []),
            *notes,
            *_on_levels(rows),
            *_too_narrow(measure, difference, made[-1][2]),
            *undefined(main.evaluation, main.block, main_options),
            *remarks(block),
        ),
        measure=str(measure),
        by=by_source(main.evaluation, main.block, main_options),
        parts=tuple(
            spelt(
                [
                    *parts_of_tested_values(main, main_options, main_testing),
                    ("beside", _other_tests(found[1:])),
                    *([] if np.isnan(difference.value) else intervals),
                ]
            ).items()
        ),
    )


def _of_test(tested: MetricTest, options: Options, testing: TestOptions, places: tuple[int, int]) -> Interval:
    """The difference with the 95% interval that matches its p: it contains 0 exactly if two-sided p > .05."""
    assert tested.reach is not None
    first, second = places
    measure, values = tested.evaluation.measure, tested.evaluation.value
    gap, reach = float(values[first] - values[second]), float(tested.reach[first, second])
    if reach <= TOLERANCE:  # nothing varies, which does not make it certain
        return Interval(gap, np.nan, np.nan)
    if measure.z_of == 0 or testing.test not in JACKKNIVES:
        return Interval(gap, gap - reach, gap + reach)
    n_systems = int(np.count_nonzero(~np.isnan(measure.scores(tested.block, options).human)))
    low, high = from_z(values, second, tested.reach[:, second], n_systems - 1, measure.z_of)
    return Interval(gap, float(low[first]), float(high[first]))


def _on_levels(rows: Sequence[PairTest]) -> list[str]:
    if all(np.isnan([row.false_positive_rate, row.false_positive_rate_exchangeable]).all() for row in rows):
        return []
    return [
        f"false_positive_rate: measured at p ≤ {NOMINAL:g} between equally good metrics; "
        "false_positive_rate_exchangeable: between exchangeable ones; both on the data with the rate furthest from "
        "nominal (docs/levels.md)"
    ]


_DRAWN_WITHIN: tuple[Test, ...] = ("perm-inputs", "perm-both", "bootstrap", "jackknife-both")
_MOST_WITHIN = 1_000_000_000  # draws of a measure's own in all resamples: half a minute
_OF_A_TEST = ("unit", "test_resamples", "test_p_value", "early_stopping", "degrees_of_freedom", "absolute", "scale")


def _other_tests(others: Sequence[tuple[MetricTest, Options, TestOptions]]) -> str | None:
    """Parts of a signature about the tests after the first."""
    said = []
    for tested, options, testing in others:
        parts = parts_of_test(tested, options, testing)
        settings = ";".join(f"{key}={value}" for key, value in parts if key in _OF_A_TEST and value is not None)
        said.append(f"{testing.test}({settings})")
    return "+".join(said) or None


def tests_of_pair(
    block: Block, measure: Measure, testing: TestOptions, *, is_alone: bool
) -> tuple[list[Test], list[str]]:
    """The tests of two metrics, the main one first, and notes on applicable tests that these scores do not allow.

    testing: as from `chosen`. is_alone: only the main test.
    """
    assert testing.test is not None
    tests: list[Test] = [testing.test]
    dear: list[Test] = []
    notes: list[str] = []
    if is_alone:
        return tests, notes
    for test in measure.tests:
        if (least := measure.least_systems(test)) > len(block.systems):
            notes.append(f"{test} is not run: it needs at least {least} systems, and there are {len(block.systems)}")
        elif measure.resamples_segments(test) and block.excluded:
            notes.append(excluding(f"{test} is not run: it would exclude", by_reason(block.excluded).items()))
        elif test in _DRAWN_WITHIN and test != testing.test and _takes_minutes(measure, block, testing, test):
            dear.append(test)
        elif test != testing.test:
            tests.append(test)
    if dear:
        notes.append(
            f"{', '.join(dear)} {are(len(dear))} only run when named: {measure.n_within(block)} draws of {measure} in "
            f"each of {_n_resamples(block, testing, dear[0])} resamples take minutes"
            + (f"; intervals are of {measure.in_simulations}" if _takes_minutes(measure, block, testing) else "")
        )
    return tests, notes


def _takes_minutes(measure: Measure, block: Block, testing: TestOptions, test: Test | None = None) -> bool:
    return _n_resamples(block, testing, test) * measure.n_within(block) > _MOST_WITHIN


def _n_resamples(block: Block, testing: TestOptions, test: Test | None) -> int:
    """Number of data sets on which a test, or an interval, computes the measure."""
    if test != "jackknife-both":
        return testing.resamples
    return testing.resamples + len(block.systems) * (1 + min(GROUPS_WITH_SYSTEMS, block.n_judged_segments))


def _tested(
    block: Block,
    asked: Slice,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    test: Test,
    progress: Progress | None,
) -> tuple[MetricTest, Options, TestOptions]:
    """One test, with the system scores that it uses; testing: as from `chosen`, for the main test."""
    options = options if test == testing.test else replace(options, system_score=None)
    fitted = fitted_options(measure, test, options, asked)
    population = testing.population if test == testing.test else measure.claims(test)
    its_testing = replace(fitted_to(testing, test), population=population, correction="none")
    tested = run_test(block, measure, fitted, its_testing, progress).as_ranked
    if len(tested.block.metrics) < 2:
        raise QuestionError(f"a comparison needs two metrics; only {tested.block.metrics[0].name} can be compared")
    return tested, fitted, its_testing


def _row(tested: MetricTest, testing: TestOptions, places: tuple[int, int]) -> PairTest:
    first, second = places
    assert testing.test is not None
    assert testing.population is not None
    values = tested.evaluation.value
    levels = levels_of(tested.evaluation.measure, testing)
    sources = sorted({str(source) for source in tested.evaluation.system_score if source is not None})
    return PairTest(
        test=testing.test,
        population=testing.population,
        alternative=testing.side,
        system_score="+".join(sources) or None,
        values=(float(values[first]), float(values[second])),
        p=float(tested.p[first, second]),
        resamples=0 if tested.is_exact else testing.resamples,
        least=resolution_of(testing, tested.is_exact),
        false_positive_rate=levels["equal"].share if "equal" in levels else np.nan,
        false_positive_rate_exchangeable=levels["exchangeable"].share if "exchangeable" in levels else np.nan,
    )


def _bootstrapped(
    block: Block,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    places: tuple[int, int],
    units: Resample,
    of_units: Units,
    progress: Progress | None,
) -> tuple[Interval, tuple[Ends, Ends]]:
    """The difference of two metrics with its interval, and the intervals of both values, by the bootstrap.

    NaN for a measure that cannot be resampled by segments.
    """
    nan = float("nan")
    nothing = Interval(nan, nan, nan), ((nan, nan), (nan, nan))
    if "bootstrap" not in measure.tests or not block.with_segments.all():
        return nothing
    found = evaluate(measure, block, options)
    if np.isnan(found.value).all():
        return nothing
    epsilon = found.epsilon if measure.is_calibrated else None
    limit = measure.in_simulations if _takes_minutes(measure, block, testing) else measure.as_resampled(of_units)
    drawn = bootstrap(
        of_units.resampled(limit.resampled(block, options, epsilon)),
        units,
        rng=np.random.default_rng([options.seed, 2]),
        n_draws=testing.resamples,
        n_threads=testing.threads,
        progress=None if progress is None else lambda done, total: progress(f"{measure} interval", done, total),
    )
    first, second = places
    how = str(testing.interval)
    df = of_units.df if units == "inputs" else np.inf
    own = [drawn.interval(place, CONFIDENCE, how, df) for place in places]
    difference = drawn.difference_interval(first, second, CONFIDENCE, how, df)
    return difference, ((own[0].low, own[0].high), (own[1].low, own[1].high))


def _words(
    names: tuple[str, str],
    measure: Measure,
    rows: tuple[PairTest, ...],
    difference: Interval,
    testing: TestOptions,
    made: _Made,
    varied: str,
    population: str,
) -> tuple[str, ...]:
    first, second = names
    main = rows[0]
    by = f"{measure}" if main.system_score is None else f"{measure} ({_scores_in_words(main.system_score)})"
    shown = f"{first} ({main.values[0]:.4f})", f"{second} ({main.values[1]:.4f})"
    sides = "one-sided" if main.alternative == "greater" else "two-sided"
    how = f"{main.test}, {sides}" + (f", {counted(main.resamples, 'resample')}" if main.resamples else "")
    if np.isnan(main.p) or np.isnan(main.values).any():
        if main.values[0] == main.values[1]:
            return (f"By {by}, {shown[0]} has the same value as {shown[1]}; p is not defined.",)
        what = "a value" if np.isnan(main.values).any() else "p"
        return (f"By {by}, {first} and {second} cannot be compared: {what} is not defined.",)
    verdict = "is significantly better than" if main.p <= testing.alpha else "is not significantly better than"
    if main.values[0] == main.values[1]:
        verdict = "has the same value as"
    level = f"significance level {testing.alpha:g}"
    sentences = [f"By {by}, {shown[0]} {verdict} {shown[1]} for {population}: {_p_in_words(main)} ({how}), {level}."]
    sentences += _disagreement(rows, testing.alpha)
    if not np.isnan(difference.value):
        scores = "" if made[-1] is None else f" by {_scores_in_words(made[-1])}"
        sentences += [
            f"The difference of {measure}{scores}, {first} minus {second}, is {difference.value:.4f}; {varied}, "
            f"its {CONFIDENCE:.0%} confidence interval is {_ends_in_words(difference)}."
        ]
    return tuple(sentences)


def in_a_sentence(comparison: PairwiseComparison, alpha: float) -> tuple[str, str]:
    """Which metric is better by the first test, and how much."""
    first, second = comparison.metrics
    main = comparison.tests[0]
    if np.isnan(main.p) and main.values[0] == main.values[1]:
        return f"{first} and {second} have the same {comparison.by} ({number(main.values[0])}).", ""
    if np.isnan(main.p) or np.isnan(main.values).any():
        without = [name for name, value in zip(comparison.metrics, main.values, strict=True) if np.isnan(value)]
        why = (
            f"{named(without)} {are(len(without), have=True)} no value to compare"
            if without
            else "the test has no p-value"
        )
        return f"{first} and {second} cannot be compared by {comparison.by}: {why}.", ""
    population = with_unit(IN_WORDS[main.population], dict(comparison.parts).get("unit"))
    values = f"{number(main.values[0])} against {number(main.values[1])}, {_p_in_words(main)}"
    if main.p > alpha:
        text = f"{first} and {second} do not differ significantly by {comparison.by} ({values}, "
    else:
        text = f"{first} is significantly better than {second} by {comparison.by} ({values}, "
    difference = ""
    if not np.isnan(comparison.low):
        ends = f"[{number(comparison.low)}, {number(comparison.high)}]"
        difference = f"Difference {number(comparison.difference)} {ends}."
    fits = len(f"{text}{population}). {difference}") <= LONGEST
    return f"{text}{population if fits else new_units(population)}).", difference


def of_several(comparisons: Sequence[PairwiseComparison], alpha: float) -> str:
    """In how many evaluation sets each of two metrics is better, and in how many they do not differ significantly.

    "" if none has a test, or if they are not the same two metrics, whatever their references.
    """
    spelt = [[MetricVariant.parse(name).base_name for name in one.metrics] for one in comparisons]
    folds = [[folded(name) for name in both] for both in spelt]
    mains = [one.tests[0] for one in comparisons]
    tested = [main for main in mains if not np.isnan(main.p)]
    if len({*folds[0]}) < 2 or any({*both} != {*folds[0]} for both in folds) or not tested:
        return ""
    n_better = dict.fromkeys(folds[0], 0)
    for (better, _), main in zip(folds, mains, strict=True):
        n_better[better] += bool(main.p <= alpha)
    name = dict(zip(folds[0], spelt[0], strict=True))
    (first, n), (second, n_second) = sorted(n_better.items(), key=lambda one: -one[1])
    n_alike, n_untested = len(tested) - n - n_second, len(mains) - len(tested)
    of = f"of {len(mains)} evaluation sets"
    if n:
        said = f"{name[first]} is significantly better than {name[second]} by {comparisons[0].measure} in {n} {of}"
        said += f", {name[second]} in {n_second}"
        said += f", and they do not differ significantly in {n_alike}" if n_alike else ""
    else:
        where = every(n_alike, "evaluation set") if n_alike == len(mains) else f"{n_alike} {of}"
        said = f"{name[first]} and {name[second]} do not differ significantly by {comparisons[0].measure} in {where}"
    words = [with_unit(IN_WORDS[one.tests[0].population], dict(one.parts).get("unit")) for one in comparisons]
    units = dict.fromkeys(new_units(one).removeprefix("new ") for one in words)
    sign = "≤" if n else ">"
    untested = f" {n_untested} cannot be tested." if n_untested else ""
    return f"{said} (p {sign} {alpha:g}, new {' or '.join(units)}).{untested}"


def _too_narrow(measure: Measure, difference: Interval, varied: Resample) -> list[str]:
    """A note on an interval of Pearson's r over systems."""
    if not measure.is_sensitive or varied != "systems" or np.isnan(difference.low):
        return []
    return [f"the interval of the difference is {TOO_NARROW}: .72 to .82 of such intervals then contain it"]


def _ends_in_words(interval: Interval) -> str:
    return "not defined" if np.isnan(interval.low) else f"{interval.low:.4f} to {interval.high:.4f}"


def _scores_in_words(source: str) -> str:
    words = {"submitted": "submitted system scores", "mean": "means over all segments"}
    return words.get(source, "means over annotated segments" if source == "judged-mean" else f"{source} system scores")


def _p_in_words(found: PairTest) -> str:
    return f"p < {found.least:.2g}" if found.p == 0 else f"p = {found.p:.3g}"


def _disagreement(rows: tuple[PairTest, ...], alpha: float) -> list[str]:
    """A sentence if only some tests find the difference, ignoring tests with far too many false positives."""
    rows = tuple(row for row in rows if not row.false_positive_rate > 2 * NOMINAL)
    found = [f"{row.test} ({row.population}, {_p_in_words(row)})" for row in rows if row.p <= alpha]
    others = [f"{row.test} ({row.population}, {_p_in_words(row)})" for row in rows if row.p > alpha]
    if not found or not others:
        return []
    verb = "finds" if len(found) == 1 else "find"
    negation = "does" if len(others) == 1 else "do"
    return [f"The tests disagree: {_listed(found)} {verb} a significant difference, {_listed(others)} {negation} not."]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
