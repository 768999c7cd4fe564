"""Deutsch et al. 2023: ties matter."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from metaeval import kernels
from metaeval.kernels.agreement.correlation import Correlation
from metaeval.kernels.agreement.tau import TAUS
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.arrays.scales import broken_ties, equal_width_bins
from metaeval.kernels.resampling.clusters import ranks
from metaeval.measures.judged import labels
from metaeval.measures.registry import parse_measure
from metaeval.results.answer import table_signature
from metaeval.results.evaluation import Evaluation, evaluate
from metaeval.results.signature import signed
from metaeval.studies.papers.items import Cell, Item, ItemValues, Paper, Request, cells_of, printed_values
from metaeval.studies.tables.carried import carried_between
from metaeval.studies.tables.thresholds import ties
from queries.blocks import Block
from queries.selection import MetricChoice
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.wording import option

NAME = "deutsch-2023"
TOY_HUMAN = (0.0, 0.0, 0.0, 0.0, 1.0, 2.0)
TOY_METRICS = {"m1": (0.0, 0.0, 0.0, 0.0, 2.0, 1.0), "m2": (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)}
TOY_TAUS = ("tau_a", "tau_b", "tau_c", "tau_10", "tau_13", "tau_14", "tau_23")
DRAWN_HUMAN = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
DRAWN_METRICS = {
    "metric1": (2.0, 1.0, 4.0, 3.0, 6.0, 5.0, 8.0, 7.0, 10.0, 9.0),
    "metric2": tuple(float(2**place) / 64 for place in range(10)),
}  # every second pair of neighbours exchanged; doubled at each step
STATISTICS = ("tau_a", "tau_b", "tau_c", "tau_10", "tau_13", "tau_14", "acc23", "acc_eq")
CONSTANT = "Constant-Metric"
BUCKETS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 75, 100, 150, 200)
SEEDS = 20  # of ties broken at random


def toy_taus(human: Sequence[float], metric: Sequence[float]) -> dict[str, float]:
    """Every variant of Kendall's tau of two vectors; tau_c without the factor 2, as the paper's table 1 prints it.

    >>> {name: round(value, 2) for name, value in toy_taus(TOY_HUMAN, TOY_METRICS["m1"]).items()}
    {'tau_a': 0.47, 'tau_b': 0.78, 'tau_c': 0.29, 'tau_10': 0.78, 'tau_13': 0.78, 'tau_14': 0.78, 'tau_23': 0.87}
    """
    column = np.asarray(human, dtype=np.float64)[:, np.newaxis]
    scores = np.asarray(metric, dtype=np.float64)[np.newaxis, :, np.newaxis]
    counts = kernels.pair_counts(column, scores, np.zeros(column.shape, dtype=np.int64))
    found = {name: float(TAUS[name](counts)[0, 0]) for name in TOY_TAUS}
    return {**found, "tau_c": found["tau_c"] / 2.0}


def drawn_statistics(human: Sequence[float], metric: Sequence[float]) -> dict[str, float]:
    """Pearson's r, Spearman's rho and Kendall's tau_b of two vectors.

    >>> {name: round(value, 2) for name, value in drawn_statistics(DRAWN_HUMAN, DRAWN_METRICS["metric1"]).items()}
    {'pearson': 0.94, 'spearman': 0.94, 'kendall': 0.78}
    >>> {name: round(value, 2) for name, value in drawn_statistics(DRAWN_HUMAN, DRAWN_METRICS["metric2"]).items()}
    {'pearson': 0.8, 'spearman': 1.0, 'kendall': 1.0}
    >>> round(drawn_statistics((*DRAWN_HUMAN, 100), (*DRAWN_METRICS["metric1"], 100))["kendall"], 2)
    0.82
    """
    names: tuple[Correlation, ...] = ("pearson", "spearman", "kendall")
    return {name: float(kernels.system_correlation(human, [metric], name)[0]) for name in names}


def figure_1(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Pearson, Spearman and Kendall of a noisy linear metric and of an ordered one that is not linear."""
    cells: list[Cell] = []
    for name, metric in DRAWN_METRICS.items():
        cells += cells_of("", "", name, drawn_statistics(DRAWN_HUMAN, metric))
    outlier = drawn_statistics((*DRAWN_HUMAN, 100.0), (*DRAWN_METRICS["metric1"], 100.0))
    cells += cells_of("", "", "metric1 and (100, 100)", outlier)
    for name, metric in DRAWN_METRICS.items():
        for x, y in zip(DRAWN_HUMAN, metric, strict=True):
            cells += cells_of("", "", f"{name}: {x:g}", {"human": x, "metric": y})
    signature = signed(("paper", f"{NAME} figure-1"), ("n", len(DRAWN_HUMAN)))
    notes = (
        "the paper draws its vectors and does not print them; these are made to its description: metric1 noisy but "
        "linear, metric2 in perfect order but not linear",
    )
    return ItemValues(tuple(cells), signature, notes)


def figure_2(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Every tau of two made-up metrics against made-up human scores with ties."""
    cells: list[Cell] = []
    for name, metric in TOY_METRICS.items():
        cells += cells_of("", "", name, toy_taus(TOY_HUMAN, metric))
    signature = signed(("paper", f"{NAME} figure-2"), ("n", len(TOY_HUMAN)))
    return ItemValues(
        tuple(cells), signature, ("tau_c follows the formula as printed; elsewhere it is SciPy's, twice that",)
    )


def tied_pairs(request: Request, asked: Slice, columns: Sequence[str]) -> ItemValues:
    """Pairs and tied pairs of the human score, in each grouping."""
    with request.opened() as warehouse:
        found = ties(warehouse, asked)
    cells: list[Cell] = []
    for row in found.frame.filter(found.frame["kind"] == "human").rows(named=True):
        cells += cells_of(asked.testset, asked.lp, row["by"], {column: row[column] for column in columns})
    return ItemValues(tuple(cells), found.signature)


def table_4(request: Request, asked: Slice) -> ItemValues:
    """The share of pairs within a segment that each metric ties."""
    with request.opened() as warehouse:
        found = ties(warehouse, asked)
        names = _base_names(request.block(asked))
    cells: list[Cell] = []
    for row in found.frame.filter((found.frame["kind"] == "metric") & (found.frame["by"] == "item")).rows(named=True):
        name = names[row["scorer"]]
        cells += cells_of(asked.testset, asked.lp, name, {"share_tied": row["share_tied"]})
    return ItemValues(tuple(cells), found.signature)


def _base_names(block: Block) -> dict[str, str]:
    return {metric.name: metric.base_name for metric in block.metrics}


def _block(request: Request, asked: Slice, item: str) -> Block:
    """The metrics of a printed table on its own evaluation set, elsewhere all; and a metric that is always equal."""
    block = request.block(replace(asked, metrics=request.metrics))
    printed = {
        one.row.casefold()
        for one in printed_values(NAME)
        if one.item == item and (one.testset, one.lp) == (asked.testset, asked.lp)
    }
    if printed and not request.metrics:
        chosen = [metric.base_name.casefold() in printed for metric in block.metrics]
        block = block.take(metrics=chosen) if any(chosen) else block
    constant = MetricChoice.made_up(CONSTANT)
    return replace(
        block,
        metrics=(*block.metrics, constant),
        scores=np.concatenate([block.scores, np.zeros((1, *block.human.shape))]),
        submitted=np.concatenate([block.submitted, np.full((1, len(block.systems)), np.nan)]),
    )


def correlations(
    request: Request, asked: Slice, item: str, by: str, statistics: Sequence[str] = STATISTICS
) -> ItemValues:
    """Every tau, acc23 and its calibrated version of every metric, with ranks; undefined values are 0, as printed."""
    block = _block(request, asked, item)
    found: dict[str, Evaluation] = {}
    for place, name in enumerate(statistics):
        if request.progress is not None:
            request.progress(name, place, len(statistics))
        found[name] = evaluate(parse_measure(f"{name}(by={by})"), block, request.options)
    values = {name: np.nan_to_num(one.value) for name, one in found.items()}
    order = {name: ranks(one) for name, one in values.items()}
    cells: list[Cell] = []
    for place, metric in enumerate(block.metrics):
        row: dict[str, float | int | None] = {}
        for name in statistics:
            row |= {name: float(values[name][place]), f"{name}_rank": int(order[name][place])}
        for one in found.values():
            if one.measure.is_calibrated:
                row["epsilon"] = float(one.epsilon[place])
        cells += cells_of(asked.testset, asked.lp, metric.base_name, row)
    signature = table_signature(("paper", f"{NAME} {item}"), block, ("by", by))
    notes = (f"{CONSTANT}: a metric that gives every translation the same score; undefined values count as 0",)
    return ItemValues(tuple(cells), signature, notes)


def figure_3(request: Request, asked: Slice) -> ItemValues:
    """Kendall's tau_b by item of one metric cut into k buckets of equal width, and the segments it is defined on."""
    block = request.block(replace(asked, metrics=request.metrics))
    if request.metrics and len(block.metrics) > 1:
        raise QuestionError(f"this item takes one metric; {option('metrics')} selects {len(block.metrics)}")
    names = [metric.base_name.casefold() for metric in block.metrics]
    preferred = [place for place, name in enumerate(names) if name.startswith("metricx")]
    block = block.take(metrics=[(preferred or [0])[0]])
    original = block.scores[0]
    rebinned = np.stack([*(equal_width_bins(original, n) for n in BUCKETS), original])
    many = replace(block, metrics=block.metrics * len(rebinned), scores=rebinned)
    taus = _by_group(many)
    cells: list[Cell] = []
    for name, of_groups in zip([*(f"{n} buckets" for n in BUCKETS), "as it is"], taus, strict=True):
        defined = of_groups[~np.isnan(of_groups)]
        values = {"tau_b": float(defined.mean()) if defined.size else None, "n_groups": int(defined.size)}
        cells += cells_of(asked.testset, asked.lp, name, values)
    signature = table_signature(("paper", f"{NAME} figure-3"), block, ("metric", block.metrics[0].name))
    return ItemValues(tuple(cells), signature, (f"metric: {block.metrics[0].name}",))


def _by_group(block: Block, scores: Floats | None = None, statistic: str = "tau_b") -> Floats:
    """(M, n_segments) a tau of every metric and segment, NaN where it is not defined."""
    counts = kernels.pair_counts(block.human, block.scores if scores is None else scores, labels(block, "item"))
    return TAUS[statistic](counts)


def fewest_defined(values: Floats) -> int:
    """The metric with values of fewest groups, (M, G), NaN where not defined; one that is never defined has none.

    >>> fewest_defined(np.array([[0.1, 0.2, 0.3], [np.nan, 0.2, 0.4], [np.nan, np.nan, np.nan]]))
    1
    """
    n = np.count_nonzero(~np.isnan(values), axis=1)
    return int(np.argmin(np.where(n > 0, n, n.max() + 1)))


def on_common(values: Floats, reference: int) -> Floats:
    """Values of the groups where one metric is defined, (M, G); NaN elsewhere.

    >>> on_common(np.array([[0.1, 0.2, 0.3], [np.nan, 0.2, 0.4]]), 1)
    array([[nan, 0.2, 0.3],
           [nan, 0.2, 0.4]])
    """
    return np.where(np.isnan(values[reference]), np.nan, values)


def section_6_1(request: Request, asked: Slice) -> ItemValues:
    """tau_b on the segments where the metric with most ties is defined, and tau_10 with ties broken at random."""
    block = request.block(replace(asked, metrics=request.metrics))
    taus = _by_group(block)
    defined = ~np.isnan(taus)
    fewest = fewest_defined(taus)
    named = [place for place, metric in enumerate(block.metrics) if metric.base_name.casefold() == "matese"]
    reference = named[0] if named and (asked.testset, asked.lp) == ("wmt22", "en-de") else fewest
    tau_10 = _mean(_by_group(block, statistic="tau_10"))
    broken = np.zeros((SEEDS, len(block.metrics)))
    for seed in range(SEEDS):
        rng = np.random.default_rng([request.seed, 4, seed])
        scores = np.stack([broken_ties(np.where(block.judged, one, np.nan), rng) for one in block.scores])
        broken[seed] = _mean(_by_group(block, np.nan_to_num(scores), "tau_10"))
    common = _mean(on_common(taus, reference))
    cells: list[Cell] = []
    for place, metric in enumerate(block.metrics):
        values = {
            "n_groups": int(defined[place].sum()),
            "tau_b": float(_mean(taus)[place]),
            "n_groups_common": int((defined[place] & defined[reference]).sum()),
            "tau_b_common": float(common[place]),
            "tau_10": float(tau_10[place]),
        }
        cells += cells_of(asked.testset, asked.lp, metric.base_name, values)
        error = float(broken[:, place].std(ddof=1))
        value = float(broken[:, place].mean())
        cells.append(Cell(metric.base_name, "tau_10_broken", asked.testset, asked.lp, value, error))
    signature = table_signature(
        ("paper", f"{NAME} section-6.1"), block, ("common", block.metrics[reference].name), ("seed", request.seed)
    )
    notes = (f"common: segments where {block.metrics[reference].name} is defined; ties broken by {SEEDS} random seeds",)
    return ItemValues(tuple(cells), signature, notes)


def carried(request: Request, asked: Sequence[Slice]) -> ItemValues:
    """Each metric's ε* carried from one evaluation set to another, and what acc_eq by item loses by it.

    Between sets of one language pair, and between language pairs of one test set. Each row has the set's own ε* and
    acc_eq, acc_eq without a threshold, and for each other set: its ε*, acc_eq with it, and the loss.
    """
    measure = parse_measure("acc_eq(by=item)")
    sets = [replace(one, metrics=request.metrics) for one in asked]
    rows, notes = carried_between(request.opened, sets, measure, request.options)
    cells: dict[tuple[str, str, str, str], Cell] = {}
    for row in rows:
        source = f"{row['testset_from']} {row['lp_from']}"
        values = {"epsilon": row["epsilon"], "acc_eq": row["value"], "acc_eq_at_0": row["at_zero"]}
        values |= {f"epsilon of {source}": row["epsilon_from"], f"acc_eq by {source}": row["carried"]}
        values |= {f"loss by {source}": row["loss"]}
        for cell in cells_of(row["testset"], row["lp"], row["metric"], values):
            cells[cell.row, cell.column, cell.testset, cell.lp] = cell
    signature = signed(
        ("paper", f"{NAME} thresholds"),
        ("measure", measure),
        ("testset", ",".join(dict.fromkeys(one.testset for one in asked))),
        ("lp", ",".join(dict.fromkeys(one.lp for one in asked))),
        ("human", ",".join(dict.fromkeys(str(one.human) for one in asked if one.human)) or "official"),
        ("metrics", ",".join(request.metrics) or None),
    )
    return ItemValues(tuple(cells.values()), signature, tuple(notes))


def _mean(values: Floats) -> Floats:
    """Means over defined groups, (M,); NaN without any."""
    return kernels.group_mean(values).value


_WMT22 = (("wmt22", "en-de"), ("wmt22", "zh-en"), ("wmt22", "en-ru"))
_PAIRS = ("n_pairs", "n_tied", "share_tied")
_ZERO = ("n_tied_zero", "share_tied_zero")
_FIVE = ("acc_eq", "tau_b", "tau_10")
_GROUPINGS = {"none": "no grouping", "item": "by segment", "system": "by system"}


def _table(number: int, lp: str, by: str) -> Item:
    item = f"table-{number}"
    compute: Callable[[Request, Slice], ItemValues] = partial(correlations, item=item, by=by)
    title = f"every tau and accuracy, {_GROUPINGS[by]}, {lp}"
    return Item(item, title, (("wmt22", lp),), compute, human="mqm", is_stored=by != "item")


PAPER = Paper(
    NAME,
    "Ties Matter: Modifying Kendall's Tau for Modern Metric Meta-Evaluation",
    (
        Item(
            "figure-1",
            "Pearson, Spearman and Kendall of a linear and of an ordered metric",
            compute_together=figure_1,
            chart="scatter",
        ),
        Item("figure-2", "every tau of a made-up example with ties", compute_together=figure_2),
        Item("table-3", "pairs and tied pairs", _WMT22, partial(tied_pairs, columns=_PAIRS), human="mqm"),
        Item("table-4", "pairs that metrics tie", _WMT22, table_4, human="mqm"),
        Item("figure-3", "a metric cut into buckets", _WMT22[:1], figure_3, human="mqm", chart="curves"),
        Item("section-6.1", "common segments, and ties broken at random", _WMT22[:1], section_6_1, human="mqm"),
        Item(
            "table-5",
            "calibrated accuracy compared with tau_b and tau_10, by segment, en-de",
            _WMT22[:1],
            partial(correlations, item="table-5", by="item", statistics=_FIVE),
            human="mqm",
        ),
        Item("table-9", "pairs tied at a score of 0", _WMT22, partial(tied_pairs, columns=_PAIRS + _ZERO), human="mqm"),
        Item(
            "thresholds",
            "tie thresholds carried to another set",
            _WMT22,
            compute_together=carried,
            human="mqm",
            chart="carried",
        ),
        *(
            _table(11 + 3 * place + offset, lp, by)
            for place, lp in enumerate(("en-de", "en-ru", "zh-en"))
            for offset, by in enumerate(_GROUPINGS)
        ),
    ),
)
