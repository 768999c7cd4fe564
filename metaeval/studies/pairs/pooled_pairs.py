"""System pairs of many evaluation sets together: accuracies over some of them, and the errors of two tests."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from metaeval import kernels
from metaeval.kernels.agreement.correlation import Correlation
from metaeval.kernels.arrays.checks import Bools, Floats, ratio
from metaeval.kernels.resampling.published_tests import system_pair_bootstrap
from metaeval.kernels.resampling.system_tests import paired_bootstrap_p_values
from metaeval.measures.options import Options
from metaeval.results.inputs import Inputs
from metaeval.results.notes import NoteWithHint
from metaeval.studies.pairs.system_pairs import SystemPairs, pairs_of
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.wording import are, counted, option

BOOTSTRAP_DRAWS = 300  # of the paired bootstrap of segments


@dataclass(frozen=True)
class PooledPairs:
    """P pairs of systems, each within one evaluation set; pairs with equal human scores are excluded.

    metrics: base names present in every set. testsets, lps, first, second: of each pair; humans: its human score.
    human: (P,) differences, first minus second; metric: (M, P). human_p: (P,) Wilcoxon's two-sided p on segments, NaN
    without segment scores. metric_p: (M, P) two-sided p of the paired bootstrap, None where not requested; NaN without
    segment scores. n_systems: of all sets; notes: what was excluded.
    """

    metrics: tuple[str, ...]
    testsets: tuple[str, ...]
    lps: tuple[str, ...]
    humans: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    human: Floats
    metric: Floats
    human_p: Floats
    metric_p: Floats | None
    n_systems: int
    notes: tuple[str, ...] = field(default=())

    @property
    def right(self) -> Bools:
        """(M, P) whether the metric orders the pair as human scores do; equal metric scores do not."""
        return np.asarray(np.sign(self.metric) == np.sign(self.human), dtype=np.bool_)

    def significant(self, alpha: float) -> Bools:
        """(P,) whether human scores of the two systems differ significantly."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.human_p <= alpha, dtype=np.bool_)


def accuracies(
    pairs: PooledPairs, counted: npt.ArrayLike, *, seed: int | None = None, n_draws: int = 10_000
) -> tuple[Floats, Bools | None]:
    """The share of pairs that each metric orders as human scores do, over some of the pairs, (M,); NaN without pairs.

    Also whether each metric is on par with the winner, (M,): the winner beats it in less than 95% of the resamples of
    pairs; None if not requested.

    counted: (P,) booleans. seed: for the paired bootstrap of system pairs, which compares metrics; None skips it.
    Source: Kocmi et al. 2021, section 4.2 and appendix B.
    """
    right = pairs.right[:, np.asarray(counted, dtype=np.bool_)]
    if not right.shape[1]:
        return np.full(len(right), np.nan), None
    on_par = None
    if seed is not None and len(right) > 1:
        on_par = system_pair_bootstrap(right, rng=np.random.default_rng([seed, 5]), n_draws=n_draws).is_on_par
    return right.mean(axis=1), on_par


def errors(pairs: PooledPairs) -> pl.DataFrame:
    """Contingency table of two tests at 0.05, over pairs with segment scores by humans and by the metric.

    One row per metric, for its test (bootstrap) and the human one (Wilcoxon). both, neither: the tests agree; type_1:
    only the metric finds a difference; type_2: only human scores do. right_if_found: share of correctly ordered pairs
    among those in which the metric finds a difference; type_2_share: share of Type II errors among those in which it
    finds none; NaN without any.

    Raises ValueError: the pairs were read without the bootstrap.
    Source: Kocmi et al. 2021, section 5.3 and appendix C.
    """
    if pairs.metric_p is None:
        raise ValueError("the pairs have no p-values of metrics")
    tested = ~np.isnan(pairs.human_p) & ~np.isnan(pairs.metric_p)  # (M, P)
    by_people = pairs.significant(0.05) & tested
    found = np.zeros(tested.shape, dtype=np.bool_)
    found[tested] = pairs.metric_p[tested] <= 0.05
    counts = {
        "both": (found & by_people).sum(axis=1),
        "neither": (tested & ~found & ~by_people).sum(axis=1),
        "type_1": (found & ~by_people).sum(axis=1),
        "type_2": (~found & by_people).sum(axis=1),
    }
    shares = {
        "right_if_found": ratio((pairs.right & found).sum(axis=1), found.sum(axis=1)),
        "type_2_share": ratio(counts["type_2"], counts["type_2"] + counts["neither"]),
    }
    return pl.DataFrame({"metric": pairs.metrics, **counts, **shares})


def difference_correlations(pairs: PooledPairs) -> dict[str, Floats]:
    """Pearson's r and Spearman's rho between metric and human differences, (M,).

    Every pair counts in both directions, so the order of its systems does not matter.
    Source: Kocmi et al. 2021, section 4.1, where each pair counts once.
    """
    human = np.concatenate([pairs.human, -pairs.human])
    metric = np.concatenate([pairs.metric, -pairs.metric], axis=1)
    names: tuple[Correlation, ...] = ("spearman", "pearson")
    return {name: kernels.system_correlation(human, metric, name) for name in names}


def of_one_human(pairs: PooledPairs) -> PooledPairs:
    """The pairs with the most frequent human score, because differences on several scales cannot be correlated."""
    counts = Counter(pairs.humans)
    if len(counts) < 2:
        return pairs
    most = max(counts, key=lambda name: (counts[name], name))
    kept = np.array([name == most for name in pairs.humans], dtype=np.bool_)
    others = ", ".join(f"{name} ({n})" for name, n in sorted(counts.items()) if name != most)
    note = NoteWithHint(
        f"only pairs of {most} are used ({counts[most]}); those on other scales are excluded: {others}",
        f"{option('human')} chooses",
    )
    found = _some_pairs(pairs, kept)
    systems = {(*place, name) for names in (found.first, found.second) for *place, name in
               zip(found.testsets, found.lps, names, strict=True)}  # fmt: skip
    return replace(found, n_systems=len(systems), notes=(*pairs.notes, note))


def pooled_pairs(
    warehouse: Warehouse, asked: Sequence[Slice], *, seed: int | None = None, n_draws: int = BOOTSTRAP_DRAWS
) -> PooledPairs:
    """All pairs of systems of some evaluation sets.

    The official human score of segments is used if it has segment scores, else that of systems. seed: for the paired
    bootstrap of segments (Koehn 2004), which tests metrics; None skips it.
    Raises QuestionError: no set has both, or no metric is in all of them.
    """
    notes: list[str] = []
    blocks: list[Block] = []
    for one in asked:
        try:
            blocks.append(_block(warehouse, one))
        except QuestionError as error:
            notes.append(f"{one.testset} {one.lp} is excluded: {error.reason}")
    if not blocks:
        raise QuestionError("; ".join(notes))
    return _paired(blocks, notes, seed, n_draws)


def _block(warehouse: Warehouse, asked: Slice) -> Block:
    inputs = Inputs(warehouse, asked)
    block = inputs.of_level("seg")
    return block if block.judged.any() else inputs.of_level("sys")


def _paired(blocks: Sequence[Block], notes: Sequence[str], seed: int | None, n_draws: int) -> PooledPairs:
    pairs = [pairs_of(block, Options(), tested=True) for block in blocks]
    each = [_places(block, found) for block, found in zip(blocks, pairs, strict=True)]
    metrics = sorted(set.intersection(*(set(one) for one in each)))
    if not metrics:
        raise QuestionError(f"no metric is in all of {', '.join(found.where for found in pairs)}")
    only_somewhere = sorted(set.union(*(set(one) for one in each)) - set(metrics))
    parts = [
        _only(block, found, [places[name] for name in metrics], seed, n_draws)
        for block, found, places in zip(blocks, pairs, each, strict=True)
    ]
    found = PooledPairs(
        tuple(metrics),
        tuple(name for part in parts for name in part.testsets),
        tuple(name for part in parts for name in part.lps),
        tuple(name for part in parts for name in part.humans),
        tuple(name for part in parts for name in part.first),
        tuple(name for part in parts for name in part.second),
        np.concatenate([part.human for part in parts]),
        np.concatenate([part.metric for part in parts], axis=1),
        np.concatenate([part.human_p for part in parts]),
        None
        if seed is None
        else np.concatenate([part.metric_p for part in parts if part.metric_p is not None], axis=1),
        sum(part.n_systems for part in parts),
    )
    reported = list(notes)
    if only_somewhere:
        reported.append(f"metrics that are missing in some set are excluded: {', '.join(only_somewhere)}")
    if len(set(found.humans)) > 1:
        reported.append(f"the human scores are {', '.join(dict.fromkeys(found.humans))}")
    if n_equal := int((found.human == 0).sum()):
        reported.append(f"{counted(n_equal, 'pair')} with equal human scores {are(n_equal)} excluded")
    return replace(_some_pairs(found, found.human != 0), notes=tuple(reported))


def _places(block: Block, found: SystemPairs) -> dict[str, int]:
    """Base name -> index among the metrics of the pairs; the first variant if there are several."""
    base = {metric.name: metric.base_name for metric in block.metrics}
    places: dict[str, int] = {}
    for place, name in enumerate(found.metric_names):
        places.setdefault(base[name], place)
    return places


def _only(block: Block, found: SystemPairs, places: Sequence[int], seed: int | None, n_draws: int) -> PooledPairs:
    """The pairs of one set with the metrics at some indices."""
    n = found.first.size
    return PooledPairs(
        (),
        (found.testset,) * n,
        (found.lp,) * n,
        (found.human,) * n,
        tuple(found.systems[place] for place in found.first),
        tuple(found.systems[place] for place in found.second),
        found.human_gaps,
        found.metric_gaps[np.asarray(places)],
        found.p,
        None if seed is None else _bootstrapped(block, found, places, seed, n_draws)[:, found.first, found.second],
        len(found.systems),
    )


def _bootstrapped(block: Block, found: SystemPairs, places: Sequence[int], seed: int, n_draws: int) -> Floats:
    """(M, N, N) two-sided p on segments for which the metric scored every system; NaN without segment scores."""
    rows = [block.systems.index(name) for name in found.systems]
    by_name = {metric.name: scores for metric, scores in zip(block.metrics, block.scores, strict=True)}
    p = np.full((len(places), len(rows), len(rows)), np.nan)
    for row, place in enumerate(places):
        scores = by_name[found.metric_names[place]][rows]
        there = ~np.isnan(scores).any(axis=0)
        if not there.any():
            continue
        rng = np.random.default_rng([seed, 6])
        mask = np.ones((len(rows), int(there.sum())), dtype=np.bool_)
        one = paired_bootstrap_p_values(scores[np.newaxis][:, :, there], mask, rng, n_draws)[0]
        p[row] = np.minimum(1.0, 2.0 * np.minimum(one, one.T))
    return p


def _some_pairs(pairs: PooledPairs, kept: Bools) -> PooledPairs:
    places = np.flatnonzero(kept)

    def some(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names[place] for place in places)

    return replace(
        pairs,
        testsets=some(pairs.testsets),
        lps=some(pairs.lps),
        humans=some(pairs.humans),
        first=some(pairs.first),
        second=some(pairs.second),
        human=pairs.human[kept],
        metric=pairs.metric[:, kept],
        human_p=pairs.human_p[kept],
        metric_p=None if pairs.metric_p is None else pairs.metric_p[:, kept],
    )
