"""Which metric is better: a test for every pair of metrics, and the clusters that follow; and both kinds as tables."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from metaeval.answer import or_none, without
from metaeval.evaluation import Evaluation, undefined
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import (
    Correction,
    best_first,
    corrected_pairs,
    indistinct_across_clusters,
    ranks,
    share_with_clusters,
    significance_clusters,
)
from metaeval.kernels.resampling.draws import Alternative
from metaeval.measures import Measure
from metaeval.notes import Decisive, hinted, joined
from metaeval.options import Options, Population, Test, TestOptions
from metaeval.remarks import remarks
from metaeval.signature import with_test
from metaeval.significance.metric_tests import Tested, generalises, population_in_words, run_test, signature_of_test
from metaeval.significance.options import pairs_that_differ, resolution_of
from metaeval.significance.pairwise import CONFIDENCE, PairwiseComparison
from queries.blocks import Block
from queries.slices import Slice
from warehouse.progress import Progress
from warehouse.wording import counted, option


@dataclass(frozen=True)
class Comparison:
    """Metrics compared by one measure and test, best first (equal values by name).

    population: what the test is used to generalise to; generalises_to: the same in words, with the unit.
    ranks: 0 for a metric without a value. p: (M, M), [i, j] for i < j = p-value that metric i is better than metric j
    (that they differ, if two-sided); NaN elsewhere. corrected: the same after the correction. clusters: from 1, aligned
    with metrics; those without a value are last, in one of their own. n_significant: pairs with corrected p ≤ alpha.
    indistinct: pairs in different clusters although their difference is not significant. least: (M, M), what a
    corrected p of 0 stands for: one below this; elsewhere the corrected p itself.
    is_exact: no draws were needed. null: (n_pairs, n_draws) drawn differences of metrics i < j, where kept.
    """

    measure: str
    test: Test
    population: Population
    generalises_to: str
    alternative: Alternative
    draws: int
    correction: Correction
    alpha: float
    metrics: tuple[str, ...]
    values: Floats
    ranks: Ints
    p: Floats
    corrected: Floats
    clusters: Ints
    n_significant: int
    n_distinct: int
    indistinct: tuple[tuple[str, str], ...]
    is_exact: bool
    signature: str
    notes: tuple[str, ...]
    seconds: float
    least: Floats
    null: Floats | None = field(default=None, compare=False)

    @property
    def n_clusters(self) -> int:
        """Clusters of metrics that have a value."""
        return len(np.unique(self.clusters[~np.isnan(self.values)]))

    @property
    def summary(self) -> str:
        """What was found, in a line."""
        n = counted(self.n_clusters, "cluster"), counted(self.n_distinct, "distinct value")
        return ", ".join((f"{pairs_that_differ(self.n_significant, 'metrics')} for {self.generalises_to}", *n))

    @property
    def generalises(self) -> str:
        """What the result generalises to, in words: see `metric_tests.generalises`."""
        return self.notes[0]

    @property
    def chance(self) -> list[str]:
        """A line on clusters that are chance, where nothing is corrected: see `by_holm`."""
        is_raw = self.correction == "none" and not np.isnan(self.p).all()
        return _chance(self.values, self.p, self.least, self.alpha, self.alternative) if is_raw else []

    @property
    def warning(self) -> Decisive | None:
        """What clusters hide: see `warning_of_clusters`."""
        return warning_of_clusters(self.indistinct)


def on_means(evaluation: Evaluation) -> str | None:
    """A line where a system-level measure is computed on the means that the test takes; None where it is not."""
    if "judged-mean" not in evaluation.system_score or evaluation.measure.fixed_system_score is not None:
        return None
    return f"{evaluation.measure}: computed on means over annotated segments, as tested"


def warning_of_clusters(indistinct: Sequence[tuple[str, str]], of: str = "metrics") -> Decisive | None:
    """A line on metrics or systems in different clusters whose difference is not significant; None without any."""
    if not indistinct:
        return None
    better, worse = indistinct[0]
    pairs = counted(len(indistinct), f"pair of {of} is", f"pairs of {of} are")
    return Decisive(
        f"{pairs} in different clusters although the difference is not significant, such as {better} and {worse}",
        "in different clusters, yet not significant:",
        counted(len(indistinct), "pair"),
        len(indistinct),
    )


def by_holm(values: Floats, p: Floats, least: Floats, alpha: float, side: Alternative, of: str = "metrics") -> str:
    """A line on how many clusters there are where all comparisons count as one family, as some clusters are chance.

    p: as of `significance_clusters`, best first, uncorrected. least: the same, where a p of 0 is what it stands for:
    with too few resamples the number of clusters lies between those that the two give.
    """
    found = [significance_clusters(values, corrected_pairs(one, "holm"), alpha) for one in (least, p)]
    n, most = sorted(len(np.unique(clusters[~np.isnan(values)])) for clusters in found)
    there = f"there {'is' if most == 1 else 'are'} {counted(n, 'cluster')}"
    if n < most:
        there = f"there are {n} to {most} clusters, which more {option('draws')} would tell"
    tested = int(np.count_nonzero(~np.isnan(values)))
    share = share_with_clusters(tested, alpha, two_sided=side == "two-sided")
    return hinted(
        f"every pair of {of} is tested, so some clusters are chance: {tested} equally good {of} form more than one in "
        f"about {min(share, 0.99):.0%} of data sets; corrected for all comparisons (Holm) {there}",
        option("correction", "holm"),
    )


def unresolved(corrected: Floats, least: Floats, alpha: float, resolution: float) -> list[str]:
    """A line on significant p-values of 0 that their correction could make insignificant; none without any.

    least: (M, M), what a corrected p of 0 stands for. resolution: what a p of 0 stands for without a correction.
    """
    n = int(np.count_nonzero((corrected <= alpha) & (least > alpha)))
    if not n:
        return []
    return [
        f"{n} p-values of 0 mean below {resolution:.2g}, which the correction could raise to "
        f"{np.nanmax(least[corrected <= alpha]):.2g}; more {option('draws')} would show whether they are significant"
    ]


def _chance(values: Floats, p: Floats, least: Floats, alpha: float, side: Alternative) -> list[str]:
    return [by_holm(values, p, least, alpha, side)] if len(values) > 2 else []


def compare_block(
    block: Block,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    progress: Progress | None = None,
    evaluation: Evaluation | None = None,
) -> Comparison:
    """Compare the metrics of a block by one measure, each with each.

    testing: as `chosen`. evaluation: of the measure on the block, where it is known. Tests that swap or resample
    segments use means over judged segments as system scores.
    Raises QuestionError: see `run_test`.
    """
    started = time.perf_counter()
    tested = run_test(block, measure, options, testing, progress, evaluation)
    notes = [joined([generalises(measure, testing, block), *([tested.why] if tested.why else [])])]
    notes += without(tested.excluded)
    notes += undefined(tested.evaluation, tested.block, options)
    notes += remarks(tested.block)
    return _comparison(tested, options, testing, notes, time.perf_counter() - started)


def _comparison(tested: Tested, options: Options, testing: TestOptions, notes: list[str], seconds: float) -> Comparison:
    evaluation, block, is_exact = tested.evaluation, tested.block, tested.is_exact
    values = evaluation.value
    order = best_first(values)
    p = tested.p[np.ix_(order, order)]
    names = tuple(block.metrics[place].name for place in order)
    values = values[order]
    raw = corrected_pairs(p, "none")
    corrected = corrected_pairs(p, testing.correction)
    clusters = significance_clusters(values, corrected, testing.alpha)
    indistinct = tuple(
        (names[better], names[worse]) for better, worse in indistinct_across_clusters(values, corrected, testing.alpha)
    )
    notes += [note for note in (on_means(evaluation), warning_of_clusters(indistinct)) if note is not None]
    resolution = resolution_of(testing, is_exact)
    least = corrected_pairs(np.where(raw == 0, resolution, raw), testing.correction)
    if testing.correction == "none" and not np.isnan(raw).all():
        notes += _chance(values, raw, least, testing.alpha, testing.side)
    notes += unresolved(corrected, least, testing.alpha, resolution)
    draws = 0 if is_exact else testing.draws
    assert testing.test is not None
    assert testing.population is not None
    return Comparison(
        measure=str(evaluation.measure),
        test=testing.test,
        population=testing.population,
        generalises_to=population_in_words(testing, block.selection.slice.level),
        alternative=testing.side,
        draws=draws,
        correction=testing.correction,
        alpha=testing.alpha,
        metrics=names,
        values=values,
        ranks=np.where(np.isnan(values), 0, ranks(values)),
        p=raw,
        corrected=corrected,
        clusters=clusters,
        n_significant=int(np.count_nonzero(corrected <= testing.alpha)),
        n_distinct=evaluation.n_distinct,
        indistinct=indistinct,
        is_exact=is_exact,
        signature=signature_of_test(tested, options, testing),
        notes=tuple(notes),
        seconds=seconds,
        least=least,
        null=_reordered(tested.null, order),
    )


def _reordered(null: Floats | None, order: Ints) -> Floats | None:
    """Kept differences for pairs in the new order: rows of np.triu_indices, sign turned where the two change places."""
    if null is None:
        return None
    n = len(order)
    row = np.zeros((n, n), dtype=np.int64)
    first, second = np.triu_indices(n, 1)
    row[first, second] = row[second, first] = np.arange(first.size)
    a, b = order[first], order[second]
    sign = np.where(a < b, 1.0, -1.0)
    reordered: Floats = null[row[a, b]] * sign[:, np.newaxis]
    return reordered


def matrix_frame(found: Comparison) -> pl.DataFrame:
    """A comparison as a table: rank, metric, value, cluster, and a column of corrected p-values for each metric."""
    matrix = found.corrected
    columns = {name: pl.Series(name, matrix[:, place]).fill_nan(None) for place, name in enumerate(found.metrics)}
    return pl.DataFrame(
        {
            "rank": [int(rank) or None for rank in found.ranks],
            "metric": list(found.metrics),
            "value": pl.Series(found.values).fill_nan(None),
            "cluster": found.clusters,
            **columns,
        }
    )


def as_ranked(found: Comparison, shown: Evaluation, signature: str) -> Comparison:
    """A comparison with the values and in the order of a ranking, clustered in that order.

    shown: the values, which may be of other system scores than the tested ones; signature: theirs. A metric that is
    ranked above another one is not significantly better where the test says the opposite. Metrics with a value and
    nothing to test go.
    """
    value = {choice.name: one for choice, one in zip(shown.metrics, shown.value.tolist(), strict=True)}
    untested = {name for name, one in zip(found.metrics, found.values, strict=True) if np.isnan(one)}
    names = sorted(
        (name for name in found.metrics if name in value and (name not in untested or np.isnan(value[name]))),
        key=lambda name: (np.isnan(value[name]), -np.nan_to_num(value[name]), name),
    )
    order = np.array([found.metrics.index(name) for name in names], dtype=np.int64)
    square = np.ix_(order, order)
    values, corrected = np.array([value[name] for name in names]), found.corrected[square]
    indistinct = indistinct_across_clusters(values, corrected, found.alpha)
    return replace(
        found,
        metrics=tuple(names),
        values=values,
        ranks=np.where(np.isnan(values), 0, ranks(values)),
        p=found.p[square],
        corrected=corrected,
        least=found.least[square],
        clusters=significance_clusters(values, corrected, found.alpha),
        indistinct=tuple((names[better], names[worse]) for better, worse in indistinct),
        signature=with_test(signature, found.signature),
        null=None,
    )


def with_clusters(frame: pl.DataFrame, comparisons: Sequence[tuple[Slice, Comparison]]) -> pl.DataFrame:
    """A ranking with the clusters and signatures of comparisons, each with its slice.

    A metric without a value has no cluster, and none has where no pair was tested.
    """
    rows = [
        (asked.testset, asked.lp, found.measure, metric, None if np.isnan(value) else int(cluster), found.signature)
        for asked, found in comparisons
        if len(found.metrics) < 2 or not np.isnan(found.p).all()
        for metric, cluster, value in zip(found.metrics, found.clusters, found.values, strict=True)
    ]
    keys = ["testset", "lp", "measure", "metric"]
    schema = {**dict.fromkeys(keys, pl.String), "cluster": pl.Int64, "tested": pl.String}
    clusters = pl.DataFrame(rows, schema=schema, orient="row")
    joined = frame.drop("cluster").join(clusters, on=keys, how="left", maintain_order="left")
    return joined.with_columns(signature=pl.coalesce("tested", "signature")).select(frame.columns)


def as_json(found: Comparison) -> dict[str, Any]:
    """The shape of `compare` in json; p[i][j] for i < j, else null."""
    names = (
        *("metrics", "values", "p", "clusters", "ranks", "measure", "test", "population", "alternative", "draws"),
        *("n_significant", "n_distinct", "signature"),
    )
    shaped: dict[str, Any] = {name: getattr(found, name) for name in names}
    shaped |= {"metrics": list(found.metrics), "ranks": [int(rank) or None for rank in found.ranks]}
    if found.correction != "none":
        shaped |= {"correction": found.correction, "p_corrected": found.corrected}
    return shaped


_OF_A_TEST = ("test", "population", "alternative", "system_score")


def pair_frame(found: PairwiseComparison) -> pl.DataFrame:
    """One row a test: test, population, alternative, system score, values, p, levels, resamples (0 = none).

    Behind them what is the same for all: difference of the main test's values, its interval, and the main sentence.
    """
    rows = [
        {
            **{name: getattr(one, name) for name in _OF_A_TEST},
            "better": found.metrics[0],
            "other": found.metrics[1],
            "value_better": one.values[0],
            "value_other": one.values[1],
            "p": one.p,
            "level_equal": one.level_equal,
            "level_exchangeable": one.level_exchangeable,
            "resamples": one.draws,
            "difference": found.difference,
            "low": found.low,
            "high": found.high,
            "sentence": found.words[0],
        }
        for one in found.tests
    ]
    schema = {
        **dict.fromkeys((*_OF_A_TEST, "better", "other"), pl.String),
        **dict.fromkeys(("value_better", "value_other", "p", "level_equal", "level_exchangeable"), pl.Float64),
        "resamples": pl.Int64,
        **dict.fromkeys(("difference", "low", "high"), pl.Float64),
        "sentence": pl.String,
    }
    return pl.DataFrame(rows, schema=schema).fill_nan(None)


def pair_json(found: PairwiseComparison) -> dict[str, Any]:
    """A pairwise comparison as nested values."""
    return {
        "metrics": list(found.metrics),
        "values": list(found.values),
        "difference": found.difference,
        "interval": {
            "confidence": CONFIDENCE,
            "resample": found.resample,
            "method": found.interval,
            "low": found.low,
            "high": found.high,
        },
        "value_intervals": [{"low": low, "high": high} for low, high in found.value_intervals],
        "tests": [
            {
                **{name: getattr(one, name) for name in _OF_A_TEST},
                "values": list(one.values),
                "p": one.p,
                "level_equal": or_none(one.level_equal),
                "level_exchangeable": or_none(one.level_exchangeable),
                "draws": one.draws,
            }
            for one in found.tests
        ],
        "summary": " ".join(found.words),
        "measure": found.measure,
        "signature": found.signature,
    }
