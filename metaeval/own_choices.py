"""Systems that a metric selected or trained: which metrics judge their own choice, and by how much they overrate it."""

from collections.abc import Iterator, Sequence

import numpy as np

from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.notes import Hinted
from metaeval.system_scores import system_scores
from queries.blocks import Block, fetch_block
from queries.findings import Finding, shown_query
from queries.listing import listing
from queries.selection import MetricChoice, Selection, Slice, select
from warehouse import QuestionError, Warehouse
from warehouse.facts.issues import OptimisedSystem, optimised_in
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import facts
from warehouse.wording import counted, option

WHY = "standard deviations from the line of the metric on people"
_LEAST = 3  # other systems; a line through two has no residuals


def own_choices(selection: Selection, metrics: Sequence[MetricChoice]) -> list[str]:
    """A line on each included system that metrics which are ranked here, or their relatives, selected."""
    return [
        f"{one.system} was made by {one.how}: {', '.join(judges)} {'judges its' if len(judges) < 2 else 'judge their'} "
        "own choice"
        for one, judges in _judged(selection, metrics)
    ]


def overrated(block: Block) -> list[str]:
    """A line on the residuals of metrics on systems that they selected, and the option that excludes these systems."""
    if not any(True for _ in _judged(block.selection, block.metrics)):
        return []
    found, others = _residuals(block)
    hint = f"{option('rank.without_optimised', True)} excludes systems that metrics selected"
    n = counted(others, "system")
    if not found:
        return [
            Hinted(f"no residuals of metrics on their own choices, as {n} that no metric selected are too few", hint)
        ]
    parts = ", ".join(f"{metric} on {system} {away:+.2f}" for metric, system, away in found)
    return [
        Hinted(f"residuals of metrics on their own choices: {parts}; {WHY}, over {n} that no metric selected", hint)
    ]


def overrating(warehouse: Warehouse, testset: str | None, lp: str | None) -> Iterator[Finding]:
    """How much metrics overrate the systems that they selected, as findings of the audit.

    testset, lp: see `queries.audit.audit`, which refuses unknown names. Evaluation sets without an official human score
    have none.
    """
    for one, pair in listing(warehouse, "lps").select("testset", "lp").rows():
        wanted = all(asked in (None, "all") or name in asked.split(",") for asked, name in ((testset, one), (lp, pair)))
        if not wanted or not optimised_in(one):
            continue
        try:
            block = fetch_block(warehouse, select(warehouse, Slice(one, pair, all_metrics=True), "sys"))
        except QuestionError:
            continue
        found, n = _residuals(block)
        for metric, system, away in found:
            text = f"judges {system}, its own choice, {away:+.2f} {WHY}"
            yield Finding("info", "issues", one, pair, metric, text, n, away, shown_query("issues", {"testset": one}))


def _residuals(block: Block) -> tuple[list[tuple[str, str, float]], int]:
    """Metric, system that it or a relative selected, residual, where there is one; how many systems none selected."""
    chosen = {one.system for one in optimised_in(block.selection.slice.testset)}
    others: Bools = np.array([name not in chosen for name in block.systems])
    scores = system_scores(block, "submitted")
    places = {metric.name: place for place, metric in enumerate(block.metrics)}
    found = [
        (metric, one.system, residual(scores.human, scores.metrics[places[metric]], others, at))
        for one, judges in _judged(block.selection, block.metrics)
        for at in [block.systems.index(one.system)]
        for metric in judges
    ]
    return [row for row in found if not np.isnan(row[2])], int(others.sum())


def residual(human: Floats, metric: Floats, others: Bools, at: int) -> float:
    """How far a metric's score of one system lies above its least-squares line on people over other systems.

    human, metric: (n_systems,) system scores, NaN = missing; others: (n_systems,), whom the line is fitted to; at: the
    system. In standard deviations of the residuals of the others, with n − 2 degrees of freedom; positive: overrated.
    NaN: fewer than three others, equal human scores, a line without residuals, or a missing score of the system.

    >>> human, metric = np.array([0.0, 1.0, 2.0, 3.0, 1.0]), np.array([0.0, 2.0, 1.0, 3.0, 4.0])
    >>> round(residual(human, metric, np.array([True] * 4 + [False]), 4), 4)
    3.0569
    """
    kept = others & ~np.isnan(human) & ~np.isnan(metric)
    x, y = human[kept], metric[kept]
    if len(x) < _LEAST or np.ptp(x) == 0:
        return float("nan")
    slope = float((x - x.mean()) @ (y - y.mean()) / ((x - x.mean()) @ (x - x.mean())))
    errors = y - y.mean() - slope * (x - x.mean())
    spread = float(np.sqrt(errors @ errors / (len(x) - 2)))
    if spread <= 1e-12 * float(np.abs(y).max()):
        return float("nan")
    return float(metric[at] - y.mean() - slope * (human[at] - x.mean())) / spread


def _judged(selection: Selection, metrics: Sequence[MetricChoice]) -> Iterator[tuple[OptimisedSystem, list[str]]]:
    """Included systems that metrics selected, each with the metrics of the same family."""
    testset = selection.slice.testset
    there = {choice.name for choice in selection.chosen_systems}
    for one in optimised_in(testset):
        if one.system not in there or selection.human is None:
            continue
        year = facts(testset).year
        judges = [metric.name for metric in metrics if describe(metric.base_name, year).family in one.families]
        if judges:
            yield one, judges
