"""Which system is better: by one scorer, for every pair, with clusters; and by sacreBLEU's tests of corpora."""

import logging
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval.answer import Table
from metaeval.inputs import Inputs, check_judged, metric_place, where
from metaeval.kernels.arrays.checks import Floats, ratio
from metaeval.kernels.resampling.clusters import (
    Correction,
    best_first,
    corrected_pairs,
    indistinct_across_clusters,
    n_significant_pairs,
    ranks,
    significance_clusters,
)
from metaeval.kernels.resampling.draws import Alternative
from metaeval.kernels.resampling.rank_ranges import ranges_by_test, rank_ranges, resampled_means
from metaeval.kernels.resampling.system_tests import (
    draw_signs,
    paired_bootstrap_p_values,
    paired_t_p_values,
    sign_flip_p_values,
    wilcoxon_p_values,
)
from metaeval.measures.judged import units_of
from metaeval.measures.pairwise_accuracy import sign_generator
from metaeval.notes import hinted
from metaeval.options import Options, SystemScore, Unit
from metaeval.signature import option_parts, signed, slice_parts
from metaeval.significance.comparison import by_holm, unresolved, warning_of_clusters
from metaeval.significance.options import SMALLEST, pairs_that_differ
from queries.blocks import Block
from queries.evalsets import official_human_of_systems
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.own.sacrebleu import corpus
from warehouse.progress import Progress
from warehouse.wording import counted, option

_RANGES = 13  # stream of the seed
SystemTest = Literal["permutation", "bootstrap", "wilcoxon", "paired-t"]


@dataclass(frozen=True)
class SystemComparison:
    """Systems compared by one scorer, best first (equal means by name).

    values: means over the segments that the scorer scored for the system; submitted: its submitted system scores, NaN
    where there are none. p: (N, N), [i, j] for i < j = p-value that systems i and j differ, or with the alternative
    "greater" that i is better, over their common segments, after the correction; NaN elsewhere. least: (N, N), what a p
    of 0 stands for: one below this. ranks: 0 for a system without a score. rank_ranges: best and worst rank of each,
    where they were asked for.
    """

    scorer: str
    test: SystemTest
    alternative: Alternative
    correction: Correction
    alpha: float
    systems: tuple[str, ...]
    values: Floats
    submitted: Floats
    p: Floats
    ranks: npt.NDArray[np.int64]
    clusters: npt.NDArray[np.int64]
    n_significant: int
    signature: str
    least: Floats
    notes: tuple[str, ...]
    rank_ranges: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None

    @property
    def n_clusters(self) -> int:
        """Clusters of systems that have a score."""
        return len(np.unique(self.clusters[~np.isnan(self.values)]))

    @property
    def summary(self) -> str:
        """What was found, in a line."""
        return f"{pairs_that_differ(self.n_significant, 'systems')}, {counted(self.n_clusters, 'cluster')}"


def compare_systems(
    warehouse: Warehouse,
    asked: Slice,
    scorer: str | None,
    test: SystemTest,
    options: Options,
    *,
    draws: int = 1000,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    correction: Correction = "none",
    unit: Unit | None = None,
    ranges: bool = False,
) -> SystemComparison:
    """Compare the systems of a slice by the human score (scorer None or its name) or by one metric.

    permutation: paired, signs of differences drawn; bootstrap: segments drawn with replacement (Koehn 2004); both >=,
    no +1. wilcoxon: signed ranks; paired-t: Student's t of the differences; nothing is drawn. A two-sided p is twice
    the smaller one-sided one, and a difference that a test finds against the order of the means is not significant.
    unit: signs, resamples and differences are those of segments or of whole documents, see `units_of`. A
    metric is named by its variant or base name, whatever its status, and needs no human score. It is tested, and its
    systems ranked, on all segments that it scored; with options.system_score "judged-mean" on those that humans judged.
    ranges: with rank ranges: what wilcoxon or paired-t leave open; else 95% of the ranks in resamples.
    Raises QuestionError: see `select`; an unknown metric, one system only, alpha outside (0, 1), or
        submitted system scores asked for: a test needs segments.
    """
    if not 0 < alpha < 1:
        raise QuestionError(f"alpha {alpha}: expected a number between 0 and 1")
    if options.system_score == "submitted":
        raise QuestionError(
            "systems are tested on segments and ranked by means over segments, with submitted scores beside them; "
            f"use {option('system_score', 'mean')} or judged-mean"
        )
    scored = _scored(warehouse, asked, scorer, options)
    block, name = scored.block, scored.name
    there = ~np.isnan(scored.scores)
    if len(block.systems) < 2 or (there.any(axis=1)).sum() < 2:
        raise QuestionError(f"{name} has no two systems with segment scores in this slice of {where(block.selection)}")
    used = there.any(axis=0)
    units = units_of(block.selection, used, unit)
    documents = units.documents
    p = system_p_values(scored.scores[:, used], there[:, used], test, options, draws, documents)
    if alternative == "two-sided":
        p = np.where(p <= p.T, np.minimum(2 * p, 1.0), 1.0)
    values = ratio(np.where(there, scored.scores, 0.0).sum(axis=1), there.sum(axis=1))
    order = best_first(values)
    p, values, submitted = p[np.ix_(order, order)], values[order], scored.submitted[order]
    is_drawn = test in ("permutation", "bootstrap")
    is_chance = correction == "none" and len(order) > 2
    resolution = (2.0 if alternative == "two-sided" else 1.0) / draws if is_drawn else SMALLEST
    raw = corrected_pairs(p, "none")
    p = corrected_pairs(raw, correction)
    least = corrected_pairs(np.where(raw == 0, resolution, raw), correction)
    indistinct = [
        (block.systems[order[better]], block.systems[order[worse]])
        for better, worse in indistinct_across_clusters(values, p, alpha)
    ]
    warning = warning_of_clusters(indistinct, "systems")
    found, words = None, None
    if ranges and test in ("wilcoxon", "paired-t"):
        found, words = ranges_by_test(values, p, alpha), "by_test"
    elif ranges:
        rng = np.random.default_rng([options.seed, _RANGES])
        drawn = resampled_means(scored.scores[:, used], there[:, used], rng, draws, documents)[order]
        found, words = rank_ranges(drawn), "95%,percentile"
    parts = [
        ("systems_by", name),
        *slice_parts(block.selection),
        ("system_score", scored.source),
        ("test", test),
        ("unit", units.unit),
        ("n_units", units.n),
        ("alternative", alternative),
        ("correction", correction),
        ("resamples", draws if is_drawn else None),
        ("seed", options.seed if is_drawn else None),
        ("alpha", alpha),
        ("rank_range", words),
        ("n_systems", len(order)),
        ("n_segments", f"{int(used.sum())}/{block.selection.n_segments}"),
        ("n_missing", int((~there).sum())),
        *option_parts(options),
    ]
    return SystemComparison(
        scorer=name,
        test=test,
        alternative=alternative,
        correction=correction,
        alpha=alpha,
        systems=tuple(block.systems[place] for place in order),
        values=values,
        submitted=submitted,
        p=p,
        ranks=np.where(np.isnan(values), 0, ranks(values)),
        clusters=significance_clusters(values, p, alpha),
        n_significant=n_significant_pairs(values, p, alpha),
        signature=signed(*parts),
        least=least,
        notes=(
            f"tested {units.words}, {alternative}",
            *block.selection.notes,
            *([] if warning is None else [warning]),
            *unresolved(p, least, alpha, resolution),
            *([by_holm(values, raw, least, alpha, alternative, "systems")] if is_chance else []),
            *_beside(values, submitted, scored.source),
            *_of_other_humans(warehouse, asked, scored),
        ),
        rank_ranges=found,
    )


@dataclass(frozen=True)
class _Scored:
    """The scorer of a slice. scores: (N, S), NaN = none. submitted: (N,). source: whose means rank the systems."""

    block: Block
    name: str
    scores: Floats
    submitted: Floats
    source: SystemScore


def _scored(warehouse: Warehouse, asked: Slice, scorer: str | None, options: Options) -> _Scored:
    """Raises QuestionError: see `Inputs`; an unknown metric, or one that is excluded."""
    if scorer is not None:
        block = Inputs(warehouse, asked, options.round_human, human="optional", also=(scorer,)).of_level("seg")
        place = metric_place(block, scorer)
        if place is not None:
            if options.round_human is not None:
                raise QuestionError(f"round_human goes with human scores, not with scores of {scorer}")
            scores = block.scores[place]
            if options.system_score == "judged-mean":
                scores = np.where(block.judged, scores, np.nan)
            return _Scored(
                block, block.metrics[place].name, scores, block.submitted[place], options.system_score or "mean"
            )
        if scorer != block.selection.human:
            known = [choice.name for choice in block.selection.metrics]
            known += [] if block.selection.human is None else [block.selection.human]
            raise unknown("scorer", scorer, known, where=where(block.selection))
    block = Inputs(warehouse, asked, options.round_human).of_level("seg")
    check_judged(block)
    return _Scored(block, str(block.selection.human), block.human, block.human_submitted, "judged-mean")


def _beside(values: Floats, submitted: Floats, source: SystemScore) -> list[str]:
    """A line on submitted system scores that stand beside the means that rank."""
    both = ~np.isnan(values) & ~np.isnan(submitted)
    if not both.any():
        return []
    one, other = values[both], submitted[both]
    first, second = np.triu_indices(len(one), 1)
    n_apart = int(np.count_nonzero((one[first] - one[second]) * (other[first] - other[second]) < 0))
    what = "annotated segments" if source == "judged-mean" else "all segments"
    order = f"order {counted(n_apart, 'pair')} of systems the other way round" if n_apart else "give the same order"
    return [f"value: mean over {what}, which is ranked and tested; the submitted system scores beside it {order}"]


def _of_other_humans(warehouse: Warehouse, asked: Slice, scored: _Scored) -> list[str]:
    """A line where the organisers ranked systems by another human score than the official one of segments."""
    if asked.human is not None or scored.name != scored.block.selection.human:
        return []
    official = official_human_of_systems(warehouse, asked.testset, asked.lp)
    if official in (None, scored.name):
        return []
    return [
        hinted(
            f"{scored.name} is the official human score of segments, on which systems are tested; "
            f"the organisers ranked systems by {official}",
            option("human", official),
        )
    ]


def system_p_values(
    scores: Floats,
    there: npt.NDArray[np.bool_],
    test: SystemTest,
    options: Options,
    draws: int,
    documents: npt.NDArray[np.int64] | None,
) -> Floats:
    if test == "wilcoxon":
        return wilcoxon_p_values(scores[np.newaxis], there, documents=documents)
    if test == "paired-t":
        return paired_t_p_values(scores[np.newaxis], there, documents)
    if test == "bootstrap":
        rng = np.random.default_rng([options.seed, 3])
        drawn = paired_bootstrap_p_values(scores[np.newaxis], there, rng, draws, documents)
    else:
        units = np.arange(scores.shape[1]) if documents is None else documents
        signs = draw_signs(sign_generator(options.seed), draws, int(units.max()) + 1)[:, units]
        drawn = sign_flip_p_values(scores[np.newaxis], there, signs)
    p: Floats = drawn[0]
    return p


def systems_frame(found: SystemComparison) -> pl.DataFrame:
    """rank and its range, system, value, cluster, submitted scores, and a column of p-values for each system."""
    submitted = {} if np.isnan(found.submitted).all() else {"submitted": pl.Series(found.submitted).fill_nan(None)}
    ranges = dict(zip(("rank_low", "rank_high"), found.rank_ranges or (), strict=False))
    columns = {name: pl.Series(name, found.p[:, place]).fill_nan(None) for place, name in enumerate(found.systems)}
    return pl.DataFrame(
        {
            "rank": [int(rank) or None for rank in found.ranks],
            **{name: [int(rank) or None for rank in ranks] for name, ranks in ranges.items()},
            "system": list(found.systems),
            "value": pl.Series(found.values).fill_nan(None),
            "cluster": found.clusters,
            **submitted,
            **columns,
        }
    )


def systems_json(found: SystemComparison) -> dict[str, Any]:
    """A comparison of systems as nested values, shaped as one of metrics."""
    ranges = () if found.rank_ranges is None else zip(*found.rank_ranges, strict=True)
    shown = [[int(low), int(high)] if low else None for low, high in ranges]
    return {
        "systems": list(found.systems),
        **{name: getattr(found, name) for name in ("values", "submitted", "p", "clusters")},
        "ranks": [int(rank) or None for rank in found.ranks],
        **({} if found.rank_ranges is None else {"rank_ranges": shown}),
        **{name: getattr(found, name) for name in ("scorer", "test", "n_significant", "signature")},
    }


CorpusTest = Literal["bs", "ar"]
SAMPLES: dict[CorpusTest, int] = {"bs": 1000, "ar": 10_000}
"""sacreBLEU's own numbers of resamples and of trials."""


def corpus_tests(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    metric: str = "bleu",
    test: CorpusTest = "bs",
    *,
    systems: tuple[str, ...] = (),
    samples: int | None = None,
    references: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Table:
    """p-values of every pair of systems by sacreBLEU's paired bootstrap ("bs") or approximate randomisation ("ar").

    systems: those to compare, as far as they have texts of every segment; empty for all. Each system is the baseline
    of all that score lower;
    columns better, worse, value, other, difference (TER counts errors, as sacreBLEU has it), p. The seed is sacreBLEU's
    (SACREBLEU_SEED, 12345 where it is not set), and its signature stands in the table's.
    Raises QuestionError: see `corpus`; an unknown system, fewer than two.
    """
    found = corpus(warehouse, testset, lp, metric, references=references)
    n_samples = SAMPLES[test] if samples is None else samples
    chosen = [name for name in found.outputs if not systems or name in systems]
    if len(chosen) < 2:
        raise QuestionError(f"{testset} {lp} has no two systems with texts of every segment")
    from sacrebleu.significance import PairedTest

    values = {name: float(found.metric.corpus_score(found.outputs[name], found.references).score) for name in chosen}
    order = sorted(chosen, key=lambda name: (values[name] if found.is_error_measure else -values[name], name))
    rows, signature = [], ""
    logging.getLogger("sacrebleu").setLevel(logging.WARNING)
    for place, better in enumerate(order[:-1]):
        named: Any = [(name, found.outputs[name]) for name in order[place:]]
        lines = [list(one) for one in found.references]
        scores: Any
        signatures, scores = PairedTest(named, {found.name: found.metric}, lines, test, n_samples)()
        (results,) = (of for name, of in scores.items() if name != "System")
        signature = str(next(iter(signatures.values())))
        for worse, result in zip(order[place + 1 :], results[1:], strict=True):
            rows.append((better, worse, values[better], values[worse], result.p_value))
        if progress is not None:
            progress(f"{found.name} tests", place + 1, len(order) - 1)
    names = ("better", "worse", "value", "other", "p")
    schema = dict.fromkeys(names[:2], pl.String()) | dict.fromkeys(names[2:], pl.Float64())
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(difference=pl.col("value") - pl.col("other"))
    parts = [("systems_by", found.name), ("testset", testset), ("lp", lp), ("n_systems", len(order))]
    text = signed(*parts, ("sacrebleu", f"[{signature}]"))
    left = [f"without {name}: {why}" for name, why in found.excluded.items()]
    return Table(frame.select("better", "worse", "value", "other", "difference", "p"), text, tuple(left))
