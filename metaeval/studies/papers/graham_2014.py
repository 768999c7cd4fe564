"""Graham and Baldwin 2014: Williams' test of two metrics' correlations."""

from dataclasses import dataclass

import numpy as np

from metaeval import kernels
from metaeval.kernels.arrays.checks import Floats
from metaeval.kernels.resampling.published_tests import WilliamsTest, williams_test
from metaeval.measures.system_scores import system_scores
from metaeval.results.answer import table_signature
from metaeval.studies.papers.items import Cell, Item, ItemValues, Paper, Request, cells_of
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.wording import option

ALPHA = 0.05
_SHOWN = {"figure-1": ("AMBER", "TerrorCat"), "code-example": ("AMBER", "BLEU_4_closest_cased")}  # better first


@dataclass(frozen=True)
class _WilliamsTests:
    """Metrics with system scores, in the order of |r|; current: n − 3 degrees of freedom, legacy: n − 2."""

    block: Block
    human: Floats
    scores: Floats
    names: tuple[str, ...]
    current: WilliamsTest
    legacy: WilliamsTest

    def signature(self, item: str) -> str:
        more = (("paper", f"graham-2014 {item}"), ("absolute", "yes"), ("test", "williams"))
        return table_signature(more[0], self.block, *more[1:])


def _tested(request: Request, asked: Slice) -> _WilliamsTests:
    """Williams' test of all metrics, with absolute correlations as in the paper.

    Raises QuestionError: fewer than 2 metrics or 4 systems.
    """
    block = request.block(asked, "sys")
    found = system_scores(block, "submitted")
    judged = ~np.isnan(found.human)
    usable = ~np.isnan(found.metrics[:, judged]).any(axis=1)
    if usable.sum() < 2 or judged.sum() < 4:
        raise QuestionError(
            f"Williams' test of {asked.testset} {asked.lp} needs 2 metrics and 4 systems, found "
            f"{int(usable.sum())} and {int(judged.sum())}"
        )
    block = block.take(metrics=usable)
    human, scores = found.human[judged], found.metrics[usable][:, judged]
    r = np.abs(kernels.system_correlation(human, scores, "pearson"))
    order = np.lexsort((np.arange(r.size), -np.nan_to_num(r)))
    scores = scores[order]
    names = tuple(block.metrics[place].base_name for place in order)
    return _WilliamsTests(
        block,
        human,
        scores,
        names,
        williams_test(human, scores, absolute=True),
        williams_test(human, scores, absolute=True, legacy_df=True),
    )


def _places(tested: _WilliamsTests, request: Request, item: str) -> list[int]:
    """Two metrics: the named ones, else the paper's, else the first and the last with a correlation.

    Raises QuestionError: not two are named, or none has a correlation.
    """
    if request.metrics:
        wanted = [place for place, name in enumerate(tested.names) if name in request.metrics]
        if len(wanted) != 2:
            raise QuestionError(
                f"this item takes two metrics by {option('metrics')}; of those named {len(wanted)} are there"
            )
        return wanted
    known = {name.casefold(): place for place, name in enumerate(tested.names)}
    of_paper = [known.get(name.casefold()) for name in _SHOWN[item]]
    if None not in of_paper:
        return [place for place in of_paper if place is not None]
    defined = np.flatnonzero(~np.isnan(tested.current.values))
    if defined.size < 2:
        raise QuestionError("fewer than two metrics have a correlation with the human score")
    return [int(defined[0]), int(defined[-1])]


def figure_1(request: Request, asked: Slice) -> ItemValues:
    """Two metrics against human scores: r, rho, and the standardised scores of every system."""
    tested = _tested(request, asked)
    cells: list[Cell] = []
    for place in _places(tested, request, "figure-1"):
        values = {
            statistic: abs(float(kernels.system_correlation(tested.human, tested.scores[[place]], statistic)[0]))
            for statistic in ("pearson", "spearman")
        }
        cells += cells_of(asked.testset, asked.lp, tested.names[place], values)
    judged = ~np.isnan(system_scores(tested.block, "submitted").human)
    systems = [name for name, there in zip(tested.block.systems, judged, strict=True) if there]
    human = _standardised(tested.human)
    for place in _places(tested, request, "figure-1"):
        metric = _standardised(tested.scores[place])
        for system, x, y in zip(systems, human, metric, strict=True):
            row = f"{tested.names[place]}: {system}"
            cells += cells_of(asked.testset, asked.lp, row, {"human": float(x), "metric": float(y)})
    return ItemValues(
        tuple(cells), tested.signature("figure-1"), ("scores are standardised; correlations are absolute",)
    )


def _standardised(scores: Floats) -> Floats:
    spread = float(scores.std(ddof=1))
    standardised: Floats = (scores - scores.mean()) / (spread if spread > 0 else 1.0)
    return standardised


def figure_2(request: Request, asked: Slice) -> ItemValues:
    """Metrics by |r|: their correlations with each other, and which correlate significantly more."""
    tested = _tested(request, asked)
    between = np.abs(
        kernels.correlation_matrix(tested.scores[:, :, np.newaxis], np.zeros((tested.human.size, 1), int), "pearson")
    )
    cells: list[Cell] = []
    for place, name in enumerate(tested.names):
        values: dict[str, float | int | None] = {"rank": place + 1, "r": float(tested.current.values[place])}
        for other, second in enumerate(tested.names):
            if other != place:
                values[f"r:{second}"] = float(between[place, other])
            if other > place:
                values[f"p:{second}"] = float(tested.current.p[place, other])
                values[f"p_legacy:{second}"] = float(tested.legacy.p[place, other])
        cells += cells_of(asked.testset, asked.lp, name, values)
    cells += cells_of(asked.testset, asked.lp, "all pairs", _shares(tested))
    return ItemValues(tuple(cells), tested.signature("figure-2"), _NOTES)


def figure_3(request: Request, asked: Slice) -> ItemValues:
    """The share of pairs that differ significantly, and of metrics that beat BLEU."""
    tested = _tested(request, asked)
    cells = cells_of(asked.testset, asked.lp, f"{asked.testset}.{asked.lp}", _shares(tested))
    return ItemValues(tuple(cells), tested.signature("figure-3"), _NOTES)


_NOTES = ("correlations are absolute; p is one-sided; legacy: n - 2 degrees of freedom instead of n - 3",)


def _shares(tested: _WilliamsTests) -> dict[str, float | int | None]:
    n = len(tested.names)
    upper = np.triu_indices(n, 1)
    significant = int(np.count_nonzero(tested.current.p[upper] < ALPHA))
    legacy = int(np.count_nonzero(tested.legacy.p[upper] < ALPHA))
    bleu = [place for place, name in enumerate(tested.names) if name.casefold().startswith("bleu")]
    beats = int(np.count_nonzero(tested.current.p[:, bleu[0]] < ALPHA)) if len(bleu) == 1 else None
    return {
        "n_metrics": n,
        "n_systems": tested.human.size,
        "n_pairs": len(upper[0]),
        "n_significant": significant,
        "share_significant": significant / len(upper[0]),
        "n_significant_legacy": legacy,
        "share_significant_legacy": legacy / len(upper[0]),
        "n_beat_bleu": beats,
        "share_beat_bleu": None if beats is None else beats / (n - 1),
    }


def code_example(request: Request, asked: Slice) -> ItemValues:
    """Williams' test of two metrics, with both degrees of freedom."""
    tested = _tested(request, asked)
    one, other = _places(tested, request, "code-example")
    row = f"{tested.names[one]} over {tested.names[other]}"
    values = {
        "r_first": float(tested.current.values[one]),
        "r_second": float(tested.current.values[other]),
        "t": float(tested.current.t[one, other]),
        "p": float(tested.current.p[one, other]),
        "p_legacy": float(tested.legacy.p[one, other]),
        "n_systems": tested.human.size,
    }
    return ItemValues(tuple(cells_of(asked.testset, asked.lp, row, values)), tested.signature("code-example"), _NOTES)


_ES_EN = (("wmt12", "es-en"),)
_OTHERS = tuple(("wmt12", lp) for lp in ("cs-en", "fr-en", "de-en", "en-es", "en-fr", "en-de"))

PAPER = Paper(
    "graham-2014",
    "Testing for Significance of Increased Correlation with Human Judgment",
    (
        Item("figure-1", "two metrics against human scores, r and rho", _ES_EN, figure_1, chart="scatter"),
        Item("figure-2", "correlations between metrics, and Williams' test", _ES_EN, figure_2, chart="heatmap"),
        Item("figure-3", "significant pairs of metrics by language pair", _ES_EN + _OTHERS, figure_3, chart="bars"),
        Item("code-example", "Williams' p with both degrees of freedom", _ES_EN, code_example),
    ),
)
