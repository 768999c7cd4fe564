"""Which system is better: tests of every pair by one scorer, with clusters; and sacreBLEU's corpus-level tests."""

import logging
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval.kernels.arrays.checks import Floats, ratio
from metaeval.kernels.resampling.clusters import Correction, best_first
from metaeval.kernels.resampling.draws import Alternative
from metaeval.kernels.resampling.rank_ranges import ranges_by_test, rank_ranges, resampled_means
from metaeval.kernels.resampling.system_tests import (
    draw_signs,
    paired_bootstrap_p_values,
    paired_t_p_values,
    sign_flip_p_values,
    wilcoxon_p_values,
)
from metaeval.measures.judged import least_p_value, units_of
from metaeval.measures.options import Options, SystemScore, Unit
from metaeval.measures.pairwise_accuracy import sign_generator
from metaeval.results.answer import Result
from metaeval.results.inputs import Inputs, check_judged, metric_place, where
from metaeval.results.notes import hinted
from metaeval.results.signature import option_parts, slice_parts, stamped
from metaeval.studies.significance.options import SMALLEST, pairs_that_differ
from metaeval.studies.significance.standings import clusters_by_chance, standings, unresolved, warning_of_clusters
from queries.blocks import Block
from queries.evalsets import official_human_of_systems
from queries.reasons import Reason, by_reason
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT, unknown
from warehouse.own.sacrebleu import corpus
from warehouse.progress import Progress
from warehouse.wording import are, counted, option

_RANGES = 13  # stream of the seed
SystemTest = Literal["permutation", "bootstrap", "wilcoxon", "paired-t"]


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
) -> Result:
    """Compare the systems of a slice by the human score (scorer None or its name) or by one metric.

    permutation: paired, with random signs of differences; bootstrap: segments drawn with replacement (Koehn 2004); both
    >=, no +1. wilcoxon: signed ranks; paired-t: Student's t of the differences; these need no resampling. A two-sided p
    is twice the smaller one-sided one, and a difference opposite to the order of the means is never significant. unit:
    whether signs, resamples and differences belong to segments or whole documents, see `units_of`. A metric is named by
    its variant or base name, whatever its status, and needs no human score. Systems are ranked and tested on all
    segments that it scored; with options.system_score "judged-mean", on annotated segments. ranges: add rank ranges:
    the ranks that wilcoxon or paired-t do not reject; else 95% of the ranks over resamples.
    Rows: rank and its range, system, value (mean over the segments that the scorer scored for it), cluster, submitted
    system scores if there are any, and a column of corrected p-values per system. Facts: the standings, the scorer, and
    ranges, (low, high) per system.
    Raises QuestionError: see `select`; an unknown metric, only one system, alpha outside (0, 1), or submitted system
    scores are requested, but a test needs segments.
    """
    if not 0 < alpha < 1:
        raise QuestionError(f"alpha {alpha}: expected a number between 0 and 1")
    if options.system_score == "submitted":
        raise QuestionError(
            "systems are tested on segments and ranked by means over segments, with submitted scores beside them; "
            f"use {option('system_score', 'mean')} or judged-mean"
        )
    block, name, scores, submitted, source = _scores_of(warehouse, asked, scorer, options)
    there = ~np.isnan(scores)
    if len(block.systems) < 2 or (there.any(axis=1)).sum() < 2:
        raise QuestionError(
            f"{name} has no two systems with segment scores in this slice of {IT}", where=where(block.selection)
        )
    used = there.any(axis=0)
    units = units_of(block.selection, used, unit)
    documents = units.documents
    p = system_p_values(scores[:, used], there[:, used], test, options, draws, documents)
    too_few = []
    if not can_differ(test, units.n, alternative, alpha):
        p = np.full(p.shape, np.nan)
        least = least_p_value(units.n, alternative)
        too_few = [
            f"there is no test: of {counted(units.n, units.unit)} {test} makes no p below {least:g} ({alternative})"
        ]
    elif alternative == "two-sided":
        # Only the direction of the means counts: a test of ranks may find the system with the lower mean better.
        p = np.where(p <= p.T, np.minimum(2 * p, 1.0), 1.0)
    values = ratio(np.where(there, scores, 0.0).sum(axis=1), there.sum(axis=1))
    is_drawn = test in ("permutation", "bootstrap")
    resolution = (2.0 if alternative == "two-sided" else 1.0) / draws if is_drawn else SMALLEST
    found = standings(block.systems, values, p, correction, alpha, resolution)
    order = best_first(values)
    submitted = submitted[order]
    columns: dict[str, list[int | None]] = {}
    words = None
    if ranges:
        if is_drawn:
            rng = np.random.default_rng([options.seed, _RANGES])
            low, high = rank_ranges(resampled_means(scores[:, used], there[:, used], rng, draws, documents)[order])
        else:
            low, high = ranges_by_test(found.values, found.corrected, alpha)
        words = "95%,percentile" if is_drawn else "by_test"
        columns = {"rank_low": [int(one) or None for one in low], "rank_high": [int(one) or None for one in high]}
    parts = stamped(
        ("systems_by", name),
        *slice_parts(block.selection),
        ("system_score", source),
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
    )
    result = f"{pairs_that_differ(found.n_significant, 'systems')}, {counted(found.n_clusters, 'cluster')}"
    notes = (
        *(too_few or [result, f"tested {units.words}, {alternative}"]),
        *block.selection.notes,
        *(_judged_but_excluded(block) if name == block.selection.human else []),
        *warning_of_clusters(found.indistinct, "systems"),
        *unresolved(found, resolution),
        *clusters_by_chance(found, alternative, "systems"),
        *_on_submitted(found.values, submitted, source),
        *_on_other_humans(warehouse, asked, block, name),
    )
    more = {} if np.isnan(submitted).all() else {"submitted": pl.Series(submitted).fill_nan(None)}
    facts = {
        "standings": found,
        "scorer": name,
        "unit": units.unit,
        "submitted": submitted,
        "ranges": list(zip(*columns.values(), strict=True)),
    }
    return Result(found.frame("system", columns, more), parts, notes, facts)


def _scores_of(
    warehouse: Warehouse, asked: Slice, scorer: str | None, options: Options
) -> tuple[Block, str, Floats, Floats, SystemScore]:
    """A block, its scorer's name, scores (N, S) and submitted scores (N,), and the system score that ranks the systems.

    Raises QuestionError: see `Inputs`; an unknown metric, or one that is excluded.
    """
    if scorer is not None:
        block = Inputs(warehouse, asked, options.round_human, human="optional", also=(scorer,)).of_level("seg")
        place = metric_place(block, scorer)
        if place is not None:
            if options.round_human is not None:
                raise QuestionError(f"round_human applies to human scores, not to scores of {scorer}")
            scores = block.scores[place]
            if options.system_score == "judged-mean":
                scores = np.where(block.judged, scores, np.nan)
            return block, block.metrics[place].name, scores, block.submitted[place], options.system_score or "mean"
        if scorer != block.selection.human:
            known = [choice.name for choice in block.selection.metrics]
            known += [] if block.selection.human is None else [block.selection.human]
            raise unknown("scorer", scorer, known, where=where(block.selection))
    block = Inputs(warehouse, asked, options.round_human, ranks_reference=True).of_level("seg")
    check_judged(block)
    return block, str(block.selection.human), block.human, block.human_submitted, "judged-mean"


def _judged_but_excluded(block: Block) -> list[str]:
    """A line on systems that are not ranked although people judged them."""
    judged = {
        one.name: one.reason
        for one in block.selection.systems
        if one.reason is not None and one.reason.reason not in (Reason.NOT_SELECTED, Reason.NOT_JUDGED)
    }
    return [
        hinted(f"{', '.join(names)} {are(len(names))} judged, but not ranked: {reason.sentence}", reason.hint)
        for reason, names in by_reason(judged).items()
    ]


def _on_submitted(values: Floats, submitted: Floats, source: SystemScore) -> list[str]:
    """A note on submitted system scores, shown next to the means by which systems are ranked."""
    both = ~np.isnan(values) & ~np.isnan(submitted)
    if not both.any():
        return []
    one, other = values[both], submitted[both]
    first, second = np.triu_indices(len(one), 1)
    n_apart = int(np.count_nonzero((one[first] - one[second]) * (other[first] - other[second]) < 0))
    what = "annotated segments" if source == "judged-mean" else "all segments"
    order = f"order {counted(n_apart, 'pair')} of systems the other way round" if n_apart else "give the same order"
    return [f"value: mean over {what}, used for ranking and tests; the submitted system scores {order}"]


def _on_other_humans(warehouse: Warehouse, asked: Slice, block: Block, name: str) -> list[str]:
    """A note if the organisers ranked systems by another human score than the official segment-level one."""
    if asked.human is not None or name != block.selection.human:
        return []
    official = official_human_of_systems(warehouse, asked.testset, asked.lp)
    if official in (None, name):
        return []
    return [
        hinted(
            f"{name} is the official human score of segments, on which systems are tested; "
            f"the organisers ranked systems by {official}",
            option("human", official),
        )
    ]


def can_differ(test: SystemTest, n_units: int, alternative: Alternative, alpha: float) -> bool:
    """Whether systems could differ significantly in this many units: by signs, the p of few is never small enough."""
    return test not in ("permutation", "wilcoxon") or least_p_value(n_units, alternative) <= alpha


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
) -> Result:
    """p-values of every pair of systems by sacreBLEU's paired bootstrap ("bs") or approximate randomisation ("ar").

    systems: those to compare, if they have texts for every segment; empty for all. Each system is the baseline for all
    systems that score lower. Columns: better, worse, value, other, difference (TER counts errors, as in sacreBLEU), p.
    The seed is sacreBLEU's (SACREBLEU_SEED, default 12345), and sacreBLEU's signature is part of the table's.
    Raises QuestionError: see `corpus`; an unknown system, fewer than two.
    """
    found = corpus(warehouse, testset, lp, metric, references=references)
    n_samples = SAMPLES[test] if samples is None else samples
    chosen = [name for name in found.outputs if not systems or name in systems]
    if len(chosen) < 2:
        raise QuestionError(f"{testset} {lp} has no two systems with texts of every segment")
    from sacrebleu.significance import PairedTest

    values = {name: float(found.corpus.corpus_score(found.outputs[name], found.references).score) for name in chosen}
    order = sorted(chosen, key=lambda name: (values[name] if found.is_error_measure else -values[name], name))
    rows, signature = [], ""
    logging.getLogger("sacrebleu").setLevel(logging.WARNING)
    for place, better in enumerate(order[:-1]):
        named: Any = [(name, found.outputs[name]) for name in order[place:]]
        lines = [list(one) for one in found.references]
        scores: Any
        signatures, scores = PairedTest(named, {found.scorer: found.corpus}, lines, test, n_samples)()
        (results,) = (of for name, of in scores.items() if name != "System")
        signature = str(next(iter(signatures.values())))
        for worse, result in zip(order[place + 1 :], results[1:], strict=True):
            rows.append((better, worse, values[better], values[worse], result.p_value))
        if progress is not None:
            progress(f"{found.scorer} tests", place + 1, len(order) - 1)
    names = ("better", "worse", "value", "other", "p")
    schema = dict.fromkeys(names[:2], pl.String()) | dict.fromkeys(names[2:], pl.Float64())
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(difference=pl.col("value") - pl.col("other"))
    settings = [("systems_by", found.scorer), ("testset", testset), ("lp", lp), ("n_systems", len(order))]
    parts = stamped(*settings, ("sacrebleu", f"[{signature}]"))
    left = [f"{name} is excluded: {why}" for name, why in found.excluded.items()]
    return Result(frame.select("better", "worse", "value", "other", "difference", "p"), parts, tuple(left))
