"""Which metric is better: a test for every pair of metrics, the resulting clusters, and tables of both."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.clusters import best_first, ranks, significance_clusters
from metaeval.kernels.resampling.draws import Alternative
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, Population, Test, TestOptions
from metaeval.results.answer import attributes, or_none, without
from metaeval.results.evaluation import Evaluation, by_source, on_few_groups, undefined, without_value
from metaeval.results.notes import ExclusionNote, few_metrics, joined
from metaeval.results.remarks import remarks, without_judgement
from metaeval.results.signature import Part, line, spelt, with_test
from metaeval.studies.significance.metric_tests import (
    generalises,
    parts_of_tested_values,
    population_in_words,
    run_test,
)
from metaeval.studies.significance.options import pairs_that_differ, resolution_of
from metaeval.studies.significance.pairwise import CONFIDENCE, PairwiseComparison
from metaeval.studies.significance.standings import (
    Standings,
    clusters_by_chance,
    standings,
    unresolved,
    warning_of_clusters,
)
from queries.blocks import Block
from queries.slices import Slice
from warehouse.progress import Progress
from warehouse.wording import counted


@dataclass(frozen=True, kw_only=True)
class Comparison(Standings):
    """Metrics compared by one measure and test.

    population: the population to which the test generalises; generalises_to: the same in words, with the unit. idle:
    metrics that cannot lead, see `without_judgement`. by: the measure as sentences name it (`by_source`).
    resamples: 0 if none were needed. null: (n_pairs, n_draws) resampled differences of metrics i < j, if kept.
    """

    measure: str
    by: str
    test: Test
    population: Population
    generalises_to: str
    alternative: Alternative
    resamples: int
    n_distinct: int
    parts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    idle: tuple[str, ...]
    null: Floats | None = field(default=None, compare=False)

    @property
    def signature(self) -> str:
        return line(self.parts)

    @property
    def summary(self) -> str:
        """The result in a line."""
        n = counted(self.n_clusters, "cluster"), counted(self.n_distinct, "distinct value")
        return ", ".join((f"{pairs_that_differ(self.n_significant, 'metrics')} for {self.generalises_to}", *n))

    def in_a_sentence(self, ranked: Sequence[tuple[str, float]] = (), idle: Collection[str] = ()) -> str:
        """The leading metric, and the metrics that do not differ significantly from it.

        ranked: all metrics with a value and their values, best first, if not all of them were tested; idle: those of
        them that cannot lead.
        """
        n = int(np.count_nonzero(~np.isnan(self.values)))
        if not n and not ranked:
            return without_value(self.measure, self.notes)
        n_left = sum(note.n for note in self.notes if isinstance(note, ExclusionNote) and note.what == "metric")
        return self.in_words(
            self.by,
            "metric",
            self.generalises_to,
            self.alternative,
            ranked,
            idle if ranked else self.idle,
            n_left=0 if ranked else n_left,
        )

    @property
    def generalises(self) -> str:
        """The population to which the result generalises, in words: see `metric_tests.generalises`."""
        return self.notes[0]


def on_means(evaluation: Evaluation) -> list[str]:
    """A note if a system-level measure is computed on the means that the test uses."""
    if "judged-mean" not in evaluation.system_score or evaluation.measure.fixed_system_score is not None:
        return []
    return [f"{evaluation.measure}: computed on means over annotated segments, as tested"]


def compare_block(
    block: Block,
    measure: Measure,
    options: Options,
    testing: TestOptions,
    progress: Progress | None = None,
    evaluation: Evaluation | None = None,
) -> Comparison:
    """Compare every pair of metrics of a block by one measure.

    testing: as from `chosen`. evaluation: of the measure on the block, if known. Tests that swap or resample segments
    use means over judged segments as system scores.
    Raises QuestionError: see `run_test`.
    """
    tested = run_test(block, measure, options, testing, progress, evaluation).as_ranked
    notes = [joined([generalises(measure, testing, block), *([tested.why] if tested.why else [])])]
    notes += few_metrics((metric.name for metric in tested.block.metrics), tested.excluded)
    notes += without(tested.excluded)
    notes += undefined(tested.evaluation, tested.block, options)
    said = remarks(tested.block)
    notes += said
    notes += on_few_groups(tested.evaluation)
    evaluation, resolution = tested.evaluation, resolution_of(testing, tested.is_exact)
    names = [metric.name for metric in tested.block.metrics]
    found = standings(names, evaluation.value, tested.p, testing.correction, testing.alpha, resolution)
    notes += [*on_means(evaluation), *warning_of_clusters(found.indistinct)]
    notes += [*clusters_by_chance(found, testing.side), *unresolved(found, resolution)]
    assert testing.test is not None
    assert testing.population is not None
    return Comparison(
        **vars(found),
        measure=str(measure),
        by=by_source(evaluation, tested.block, options),
        test=testing.test,
        population=testing.population,
        generalises_to=population_in_words(testing, block.selection.slice.level),
        alternative=testing.side,
        resamples=0 if tested.is_exact else testing.resamples,
        n_distinct=evaluation.n_distinct,
        parts=tuple(spelt(parts_of_tested_values(tested, options, testing)).items()),
        notes=tuple(notes),
        idle=tuple(sorted(without_judgement([(it.name, it.base_name) for it in tested.block.metrics], said))),
        null=_reordered(tested.null, best_first(evaluation.value)),
    )


def _reordered(null: Floats | None, order: Ints) -> Floats | None:
    """Kept differences for pairs in the new order: rows of np.triu_indices, sign reversed if the two swap places."""
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


def as_ranked(comparison: Comparison, shown: Evaluation, parts: Sequence[Part], by: str) -> Comparison:
    """A comparison with the values and in the order of a ranking, clustered in that order.

    shown: the values, which may be computed from other system scores than the test; parts: of their signature; by: see
    `Comparison`. A metric
    ranked above another is not significantly better if the test says the opposite. Metrics with a value but no test are
    removed.
    """
    value = {choice.name: one for choice, one in zip(shown.metrics, shown.value.tolist(), strict=True)}
    untested = {name for name, one in zip(comparison.names, comparison.values, strict=True) if np.isnan(one)}
    names = sorted(
        (name for name in comparison.names if name in value and (name not in untested or np.isnan(value[name]))),
        key=lambda name: (np.isnan(value[name]), -np.nan_to_num(value[name]), name),
    )
    order = np.array([comparison.names.index(name) for name in names], dtype=np.int64)
    square = np.ix_(order, order)
    values, corrected = np.array([value[name] for name in names]), comparison.corrected[square]
    return replace(
        comparison,
        by=by,
        names=tuple(names),
        values=values,
        ranks=np.where(np.isnan(values), 0, ranks(values)),
        p=comparison.p[square],
        corrected=corrected,
        least=comparison.least[square],
        clusters=significance_clusters(values, corrected, comparison.alpha),
        parts=with_test(parts, comparison.parts),
        null=None,
    )


def with_clusters(frame: pl.DataFrame, comparisons: Sequence[tuple[Slice, Comparison]]) -> pl.DataFrame:
    """A ranking with the clusters and signatures of comparisons, each with its slice.

    A metric without a value has no cluster; if no pair was tested, no metric has one.
    """
    rows = [
        (asked.testset, asked.lp, found.measure, metric, None if np.isnan(value) else int(cluster), found.signature)
        for asked, found in comparisons
        if len(found.names) < 2 or not np.isnan(found.p).all()
        for metric, cluster, value in zip(found.names, found.clusters, found.values, strict=True)
    ]
    keys = ["testset", "lp", "measure", "metric"]
    schema = {**dict.fromkeys(keys, pl.String), "cluster": pl.Int64, "tested": pl.String}
    clusters = pl.DataFrame(rows, schema=schema, orient="row")
    joined = frame.drop("cluster").join(clusters, on=keys, how="left", maintain_order="left")
    return joined.with_columns(signature=pl.coalesce("tested", "signature")).select(frame.columns)


def as_json(comparison: Comparison) -> dict[str, Any]:
    """The shape of `compare` in json; p[i][j] for i < j, else null."""
    shaped: dict[str, Any] = {
        "metrics": list(comparison.names),
        **attributes(comparison, "values", "p", "clusters"),
        "ranks": [int(rank) or None for rank in comparison.ranks],
        **attributes(
            comparison, "measure", "test", "population", "alternative", "resamples", "n_significant", "n_distinct"
        ),
        "signature": comparison.signature,
    }
    return (
        shaped
        if comparison.correction == "none"
        else {**shaped, **attributes(comparison, "correction"), "p_corrected": comparison.corrected}
    )


_OF_A_TEST = ("test", "population", "alternative", "system_score")


def pair_frame(comparison: PairwiseComparison) -> pl.DataFrame:
    """One row per test: test, population, alternative, system score, values, p, levels, resamples (0 = none).

    The last columns are the same in all rows: difference of the main test's values, its interval, and the main
    sentence.
    """
    rows = [
        {
            **{name: getattr(one, name) for name in _OF_A_TEST},
            "better": comparison.metrics[0],
            "other": comparison.metrics[1],
            "value_better": one.values[0],
            "value_other": one.values[1],
            "p": one.p,
            "false_positive_rate": one.false_positive_rate,
            "false_positive_rate_exchangeable": one.false_positive_rate_exchangeable,
            "resamples": one.resamples,
            "difference": comparison.difference,
            "low": comparison.low,
            "high": comparison.high,
            "sentence": comparison.words[0],
        }
        for one in comparison.tests
    ]
    schema = {
        **dict.fromkeys((*_OF_A_TEST, "better", "other"), pl.String),
        **dict.fromkeys(
            ("value_better", "value_other", "p", "false_positive_rate", "false_positive_rate_exchangeable"), pl.Float64
        ),
        "resamples": pl.Int64,
        **dict.fromkeys(("difference", "low", "high"), pl.Float64),
        "sentence": pl.String,
    }
    return pl.DataFrame(rows, schema=schema).fill_nan(None)


def pair_json(comparison: PairwiseComparison) -> dict[str, Any]:
    """A pairwise comparison as nested values."""
    return {
        "metrics": list(comparison.metrics),
        "values": list(comparison.values),
        "difference": comparison.difference,
        "interval": {
            "confidence": CONFIDENCE,
            "resample": comparison.resample,
            "method": comparison.interval,
            "low": comparison.low,
            "high": comparison.high,
        },
        "value_intervals": [{"low": low, "high": high} for low, high in comparison.value_intervals],
        "tests": [
            {
                **{name: getattr(one, name) for name in _OF_A_TEST},
                "values": list(one.values),
                "p": one.p,
                "false_positive_rate": or_none(one.false_positive_rate),
                "false_positive_rate_exchangeable": or_none(one.false_positive_rate_exchangeable),
                "resamples": one.resamples,
            }
            for one in comparison.tests
        ],
        "summary": " ".join(comparison.words),
        "measure": comparison.measure,
        "signature": comparison.signature,
    }
