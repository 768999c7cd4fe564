"""Zerva et al. 2022: the shared task on quality estimation, sentence level; one system per language pair."""

from metaeval.measures.registry import parse_measure
from metaeval.results.answer import table_signature
from metaeval.results.evaluation import evaluate
from metaeval.studies.papers.items import Cell, Item, ItemValues, Paper, Request, cells_of
from queries.slices import Slice

MEASURES = {
    name: parse_measure(text)
    for name, text in (
        ("spearman", "spearman(by=none)"),
        ("pearson", "pearson(by=none)"),
        ("rmse", "rmse"),
        ("mae", "mae"),
    )
}


ERRORS = {name for name, measure in MEASURES.items() if measure.definition.range == "[-inf, 0]"}


def results(request: Request, asked: Slice) -> ItemValues:
    """Submissions by Spearman's and Pearson's correlation over segments; errors are positive, as they are printed."""
    block = request.block(asked)
    found = {name: evaluate(measure, block, request.options).value for name, measure in MEASURES.items()}
    cells: list[Cell] = []
    for place, metric in enumerate(block.metrics):
        values = {name: abs(float(of[place])) if name in ERRORS else float(of[place]) for name, of in found.items()}
        cells += cells_of(asked.testset, asked.lp, metric.base_name, values)
    return ItemValues(tuple(cells), table_signature(("paper", "zerva-2022 sentence-level"), block))


PAPER = Paper(
    "zerva-2022",
    "Findings of the WMT 2022 Shared Task on Quality Estimation",
    (
        Item(
            "sentence-level",
            "submissions by correlations and errors, direct assessments and MQM",
            (("wmt22.qe-da", "en-cs"), ("wmt22.qe-da", "en-ja"), ("wmt22.qe-da", "ps-en"), ("wmt22.qe-mqm", "en-ru")),
            results,
        ),
    ),
)
