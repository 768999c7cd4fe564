"""The rules of every year on one evaluation set: what each says of the same metrics, and how far the newest is."""

from dataclasses import dataclass

import numpy as np

from metaeval import kernels
from metaeval.inputs import Opened
from metaeval.kernels.arrays.checks import Floats
from metaeval.options import Options
from metaeval.protocols import Protocol, protocols
from metaeval.protocols.entry import enter
from metaeval.protocols.scoring import ProtocolScore, score
from metaeval.protocols.tables import rank_correlation
from metaeval.protocols.task_scores import Task
from queries.selection import Slice
from warehouse import QuestionError
from warehouse.progress import Progress


@dataclass(frozen=True)
class Applied:
    """The rules of some years on an evaluation set: their score, or why there is none. last: their last year."""

    protocol: Protocol
    last: int
    score: ProtocolScore | None
    reason: str | None

    @property
    def years(self) -> str:
        """The years in which these rules held."""
        first = self.protocol.year
        return str(first) if first == self.last else f"{first}-{self.last}"


@dataclass(frozen=True)
class Ranking:
    """What some rules say of metrics: the best, its value, and Kendall's tau_b with the ranking by the newest rules.

    n_distinct: distinct values; kendall: None where it is not defined.
    """

    best: tuple[str, ...]
    value: float
    n_metrics: int
    n_distinct: int
    kendall: float | None


def apply_rules(
    opened: Opened, asked: Slice, options: Options, *, until: int | None = None, progress: Progress | None = None
) -> list[Applied]:
    """Every protocol on the evaluation set of a slice, oldest first.

    until: the last year of rules; None for all. What a protocol asks of metrics (primary and baseline ones) holds.
    Raises QuestionError: unknown names, or no protocol has its inputs.
    """
    known = [one for one in protocols().values() if until is None or one.year <= until]
    ends = [*(later.year - 1 for later in known[1:]), until or known[-1].year]
    found = []
    for number, (protocol, last) in enumerate(zip(known, ends, strict=True)):
        if progress is not None:
            progress(protocol.name, number, len(known))
        try:
            with opened() as warehouse:
                entry = enter(warehouse, protocol, asked.testset, lps=[asked.lp], asked=asked, options=options)
            found.append(Applied(protocol, last, score(entry, options=options), None))
        except QuestionError as error:
            found.append(Applied(protocol, last, None, error.reason))
    if all(one.score is None for one in found):
        raise QuestionError("; ".join(dict.fromkeys(str(one.reason) for one in found)))
    return found


def overall_ranking(one: ProtocolScore, newest: ProtocolScore | None) -> Ranking | None:
    """What a protocol's overall score says; None where no metric has one. newest: by the newest rules."""
    there = one.overall[~np.isnan(one.overall)]
    if not there.size:
        return None
    tau = float("nan") if newest is None else rank_correlation(one, newest)[0]
    return Ranking(one.winners, float(there[0]), int(there.size), _distinct(there), None if np.isnan(tau) else tau)


def task_ranking(metrics: tuple[str, ...], task: Task, newest: dict[str, float]) -> Ranking | None:
    """What a task of a protocol says; None where no metric has a value. newest: values by the newest measure."""
    values = {name: float(one) for name, one in zip(metrics, task.values, strict=True) if not np.isnan(one)}
    if not values:
        return None
    top = max(values.values())
    common = [name for name in values if name in newest]
    tau = float("nan")
    if len(common) > 1:
        pair = [values[name] for name in common], [[newest[name] for name in common]]
        tau = float(kernels.system_correlation(*pair, "kendall")[0])
    best = tuple(name for name in sorted(values) if values[name] == top)
    return Ranking(best, top, len(values), _distinct(np.array(list(values.values()))), None if np.isnan(tau) else tau)


def _distinct(values: Floats) -> int:
    return len(np.unique(np.round(values, 12)))
