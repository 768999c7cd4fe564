"""DiIanni and Deutsch 2025: Pearson's r of pairwise differences."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.clusters import ranks
from metaeval.measures.registry import parse_measure
from metaeval.results.answer import table_signature
from metaeval.results.evaluation import evaluate
from metaeval.studies.papers.items import Cell, Item, ItemValues, Paper, Request, cells_of
from metaeval.studies.robustness import noise as injection
from metaeval.studies.robustness.oracles import oracles as made_of_errors
from metaeval.studies.robustness.settings import NoiseSettings
from queries.blocks import Block
from queries.selection import MetricChoice
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.wording import counted, option

MEASURES = {
    "pdp": parse_measure("pdp"),
    "global_pearson": parse_measure("pearson(by=none)"),
    "segment_pearson": parse_measure("pearson(by=item)"),
    "acc_eq": parse_measure("acc_eq(by=item)"),
}
SEGMENT_MEAN = "segment-mean"
_NOTE = (
    f"{SEGMENT_MEAN}: a made-up metric that scores all translations of a segment alike, by the mean of standardised "
    "metrics, as sentinels of source and reference do; undefined values rank last"
)


def segment_means(scores: npt.ArrayLike, judged: npt.ArrayLike) -> Floats:
    """(N, S) a score that is the same for all systems: the segment's mean over metrics and judged systems.

    scores: (M, N, S), each metric standardised over its judged cells first (a constant one adds 0); judged: (N, S).
    0 where nothing is judged.
    >>> segment_means([[[0.0, 2.0], [2.0, 4.0]]], [[True, True], [True, True]]).round(3).tolist()
    [[-0.707, 0.707], [-0.707, 0.707]]
    """
    mask = np.asarray(judged, dtype=np.bool_)
    total = np.zeros(mask.shape[1])
    for values in np.asarray(scores, dtype=np.float64):
        used = values[mask]
        spread = float(used.std()) if used.size else 0.0
        if spread > 0:
            total += np.where(mask, (values - used.mean()) / spread, 0.0).sum(axis=0)
    n = np.maximum(mask.sum(axis=0) * len(np.asarray(scores)), 1)
    return np.broadcast_to(total / n, mask.shape).copy()


def _with_segment_mean(block: Block) -> Block:
    made = MetricChoice.made_up(SEGMENT_MEAN)
    return replace(
        block,
        metrics=(*block.metrics, made),
        scores=np.concatenate([block.scores, segment_means(block.scores, block.judged)[np.newaxis]]),
        submitted=np.concatenate([block.submitted, np.full((1, len(block.systems)), np.nan)]),
    )


def _values(request: Request, asked: Slice) -> tuple[Block, dict[str, Floats]]:
    """Each measure of every metric, the made-up one last."""
    block = _with_segment_mean(request.block(replace(asked, metrics=request.metrics)))
    found: dict[str, Floats] = {}
    for place, (name, measure) in enumerate(MEASURES.items()):
        if request.progress is not None:
            request.progress(name, place, len(MEASURES))
        found[name] = evaluate(measure, block, request.options).value
    return block, found


def rankings(request: Request, asked: Slice) -> ItemValues:
    """Metrics by pairwise difference Pearson, global and segment-wise Pearson and acc_eq, and how these agree."""
    block, found = _values(request, asked)
    places = {name: ranks(values) for name, values in found.items()}
    cells: list[Cell] = []
    for place in np.argsort(places["pdp"], kind="stable"):
        values: dict[str, float | int | None] = {name: float(of[place]) for name, of in found.items()}
        values |= {f"{name}_rank": int(of[place]) for name, of in places.items()}
        cells += cells_of(asked.testset, asked.lp, block.metrics[place].name, values)
    for one, other in combinations(MEASURES, 2):
        both = ~np.isnan(found[one]) & ~np.isnan(found[other])
        tau = float(kernels.system_correlation(found[one][both], found[other][both][np.newaxis], "kendall")[0])
        cells += cells_of(asked.testset, asked.lp, f"{one} ~ {other}", {"kendall": tau, "n_metrics": int(both.sum())})
    return ItemValues(tuple(cells), table_signature(("paper", "diianni-2025 rankings"), block), (_NOTE,))


def sentinels(request: Request, asked: Slice) -> ItemValues:
    """Ranks of the sentinel metrics, which see only part of their input, and of the made-up metric, by each measure.

    A share of 1 means that every other metric is ranked above.
    """
    block, found = _values(request, asked)
    cells: list[Cell] = []
    for place, metric in enumerate(block.metrics):
        if not (metric.base_name.casefold().startswith("sentinel") or metric.name == SEGMENT_MEAN):
            continue
        values: dict[str, float | int | None] = {}
        for name, of in found.items():
            rank = int(ranks(of)[place])
            values |= {f"{name}_rank": rank, f"{name}_share_above": (rank - 1) / max(len(block.metrics) - 1, 1)}
        cells += cells_of(asked.testset, asked.lp, metric.name, {**values, "n_metrics": len(block.metrics)})
    if len(block.metrics) < 3:
        raise QuestionError(
            f"{asked.testset} {asked.lp} has {counted(len(block.metrics) - 1, 'metric')}; ranks need at least 2"
        )
    return ItemValues(tuple(cells), table_signature(("paper", "diianni-2025 sentinels"), block), (_NOTE,))


def noise(request: Request, asked: Slice) -> ItemValues:
    """Each measure as noise in one metric rises: means over draws with their spread, for each kind of noise.

    The metric is the human score itself, which is perfect without noise; `metrics` chooses another.
    Raises QuestionError: several metrics.
    """
    if len(request.metrics) > 1:
        raise QuestionError(f"this item takes one metric; {option('metrics')} selects {len(request.metrics)}")
    what = NoiseSettings(simulations=request.draws or NoiseSettings.simulations, seed=request.seed)
    metric = request.metrics[0] if request.metrics else None
    with request.opened() as warehouse:
        found = injection.noise(
            warehouse, asked, metric, list(MEASURES.values()), request.options, what, request.progress
        )
    names = {str(measure): name for name, measure in MEASURES.items()}
    by_row: dict[str, dict[str, float | int | None]] = {}
    for one in found.frame.rows(named=True):
        unit = "share" if one["kind"] == "outliers" else "sd"
        values = by_row.setdefault(f"{one['kind']}, {one['strength']:g} {unit}", {})
        name = names[one["measure"]]
        values |= {f"{name}_{what}": one[key] for what, key in _SPREAD.items()}
    cells = [cell for row, values in by_row.items() for cell in cells_of(asked.testset, asked.lp, row, values)]
    return ItemValues(tuple(cells), found.signature, (f"metric: {found.frame['metric'][0]}", *found.notes))


_SPREAD = {"mean": "value", "low": "low", "high": "high", "sd": "sd", "n_undefined": "n_undefined"}


def oracles(request: Request, asked: Slice) -> ItemValues:
    """Metrics made from human-marked errors with other weights, in the order of each measure; and further rounds."""
    with request.opened() as warehouse:
        found = made_of_errors(warehouse, asked, list(MEASURES.values()), request.options)
    names = {str(measure): name for name, measure in MEASURES.items()}
    cells: dict[tuple[str, str], Cell] = {}
    for one in found.frame.rows(named=True):
        row, name = f"{one['kind']}: {one['name']}", names[one["measure"]]
        values = {name: one["value"], f"{name}_rank": one["rank"], "n_scores": one["n_scores"]}
        for cell in cells_of(asked.testset, asked.lp, row, values):
            if not (cell.column == f"{name}_rank" and one["kind"] == "round"):
                cells[row, cell.column] = replace(cell, note=one["reason"] or "")
    return ItemValues(tuple(cells.values()), found.signature, found.notes)


_SETS = (("wmt23", "en-de"), ("wmt23", "zh-en"), ("wmt24", "en-de"), ("wmt24", "ja-zh"), ("wmt24", "en-es"))

PAPER = Paper(
    "diianni-2025",
    "Don't Sweat the Small Stuff: Segment-Level Meta-Evaluation Based on Pairwise Difference Correlation",
    (
        Item("rankings", "metrics by PDP, Pearson's r and acc_eq, and how these agree", _SETS, rankings, human="mqm"),
        Item("sentinels", "ranks of sentinel metrics by each measure", _SETS, sentinels, human="mqm"),
        Item("noise", "each measure as noise in a metric rises", _SETS, noise, human="mqm", chart="curves"),
        Item(
            "oracles",
            "order of metrics made from human error annotations with other weights",
            _SETS,
            oracles,
            human="mqm",
        ),
    ),
)
