"""Overlap of marked errors in many outputs: the characters they share, and which error is matched with which."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Span = Mapping[str, Any]  # start, end (half-open, characters), side, severity
SIDES = ("target", "source")
_IS_MAJOR = {"minor": False, "major": True, "critical": True}


@dataclass(frozen=True)
class Spans:
    """Marked errors, one per row: output (from 0), side (0 target, 1 source), start and end (half-open), severity."""

    output: np.ndarray
    side: np.ndarray
    start: np.ndarray
    end: np.ndarray
    is_major: np.ndarray

    @property
    def length(self) -> np.ndarray:
        length: np.ndarray = self.end - self.start
        return length

    def weights(self, of_severity: Mapping[str, float] | None) -> np.ndarray:
        """Weight of each span: 1, or the weight of its severity."""
        if of_severity is None:
            return np.ones(len(self.start))
        return np.where(self.is_major, of_severity["major"], of_severity["minor"]).astype(float)


def flat(outputs: Sequence[Sequence[Span]]) -> Spans:
    """Lists of spans, one list per output, as arrays; a critical error counts as major.

    Excludes spans without a position (start or end None), empty spans, and spans of any other severity.
    """
    rows = [
        (number, SIDES.index(str(span.get("side", "target"))), span["start"], span["end"], _IS_MAJOR[severity])
        for number, spans in enumerate(outputs)
        for span in spans
        if (severity := str(span.get("severity")).lower()) in _IS_MAJOR
        and span["start"] is not None
        and span["end"] is not None
        and span["start"] < span["end"]
    ]
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 5)
    output, side, start, end, is_major = table.T
    return Spans(output, side, start, end, is_major == 1)


_N_KINDS = 4  # predicted minor, predicted major, gold minor, gold major


@dataclass(frozen=True)
class Stretches:
    """Stretches of text inside which no span begins or ends, for all outputs and sides, one after the other.

    covered: (n, 2, 2) how many spans of each kind cover a stretch: predicted or gold, minor or major. length:
    characters; 0 where a text's last span ends. output: the output of each stretch. first, last: for predicted and for
    gold spans, the stretch at which each begins, and the first stretch that it no longer covers.
    """

    covered: np.ndarray
    length: np.ndarray
    output: np.ndarray
    first: tuple[np.ndarray, np.ndarray]
    last: tuple[np.ndarray, np.ndarray]

    def over_spans(self, values: np.ndarray, which: int) -> np.ndarray:
        """Sum of values times length over the stretches of each predicted (0) or gold (1) span."""
        before = np.concatenate([[0.0], np.cumsum(values * self.length)])
        total: np.ndarray = before[self.last[which]] - before[self.first[which]]
        return total


def stretches(predicted: Spans, gold: Spans) -> Stretches:
    """Divide the texts at the start and end of every span."""
    both = (predicted, gold)
    text = np.concatenate([2 * spans.output + spans.side for spans in both] * 2)
    at = np.concatenate([*(spans.start for spans in both), *(spans.end for spans in both)])
    kind = np.concatenate([2 * number + spans.is_major for number, spans in enumerate(both)] * 2)
    change = np.repeat([1, -1], len(at) // 2)
    order = np.lexsort((at, text))
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(text[order]) != 0) | (np.diff(at[order]) != 0)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    n = int(is_new.sum())
    changes = np.bincount(number * _N_KINDS + kind, weights=change, minlength=n * _N_KINDS).reshape(n, _N_KINDS)
    begins = order[is_new]
    where, of = at[begins], text[begins]
    length = np.zeros(n, dtype=np.int64)
    length[:-1] = np.where(np.diff(of) == 0, np.diff(where), 0)
    n_predicted, n_spans = len(predicted.start), len(at) // 2
    starts, ends = number[:n_spans], number[n_spans:]
    return Stretches(
        covered=np.cumsum(changes, axis=0).reshape(n, 2, 2),
        length=length,
        output=of // 2,
        first=(starts[:n_predicted], starts[n_predicted:]),
        last=(ends[:n_predicted], ends[n_predicted:]),
    )


def matched(covered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Match the marks on each stretch, (n, 2, 2): numbers matched within a severity, (n, 2), and across severities.

    crossed[:, s]: predicted marks of severity s matched with gold marks of the other severity. Marks may be counts or
    sums of weights.
    """
    exact = covered.min(axis=1)
    rest = covered - exact[:, None, :]
    return exact, np.minimum(rest[:, 0, :], rest[:, 1, ::-1])


Point = tuple[float, float]  # what a choice of pairs adds to the numerators of precision and recall
_SAME = 1e-12
_MOST_STATES = 20_000  # sixteen spans a side that all overlap


@dataclass(frozen=True)
class Pairs:
    """Pairs of a predicted and a gold span that would earn credit.

    predicted, gold: rows of the spans. of_precision, of_recall: contribution of each pair to the numerators. likeness:
    twice the overlap divided by the sum of lengths, times the share kept if severities differ.
    """

    predicted: np.ndarray
    gold: np.ndarray
    output: np.ndarray
    of_precision: np.ndarray
    of_recall: np.ndarray
    likeness: np.ndarray


def overlapping(predicted: Spans, gold: Spans) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of predicted and gold spans of one output and side that have characters in common, and how many."""
    keys = [2 * spans.output + spans.side for spans in (predicted, gold)]
    order = np.argsort(keys[1], kind="stable")
    first, last = (np.searchsorted(keys[1][order], keys[0], side=side) for side in ("left", "right"))
    n = last - first
    rows = np.repeat(np.arange(len(n)), n)
    beside = order[np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + np.repeat(first, n)]
    common = np.minimum(predicted.end[rows], gold.end[beside]) - np.maximum(predicted.start[rows], gold.start[beside])
    is_common = common > 0
    return rows[is_common], beside[is_common], common[is_common]


def greedy(pairs: Pairs) -> np.ndarray:
    """Pairs chosen in order of likeness, the most alike first, each span once; ties in their original order."""
    taken = np.zeros(len(pairs.output), dtype=bool)
    used: tuple[set[int], set[int]] = (set(), set())
    for pair in np.argsort(-pairs.likeness, kind="stable").tolist():
        row, beside = int(pairs.predicted[pair]), int(pairs.gold[pair])
        if row not in used[0] and beside not in used[1]:
            used[0].add(row)
            used[1].add(beside)
            taken[pair] = True
    return taken


def best_sums(pairs: Pairs, sizes: tuple[np.ndarray, np.ndarray], n_outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Numerators of precision and recall of each output, (n_outputs,) each, under the matching with the best F.

    Ties are decided by the greatest P + R, then by P. sizes: the denominators. The search is exact: for each connected
    component it keeps the choices that no other choice dominates in both P and R.
    Raises ValueError: a component with too many choices to search.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sums = np.zeros((2, n_outputs))
    if not len(pairs.output):
        return sums[0], sums[1]
    n = int(pairs.predicted.max()) + 1
    m = int(pairs.gold.max()) + 1
    graph = coo_array((np.ones(len(pairs.output)), (pairs.predicted, n + pairs.gold)), shape=(n + m, n + m))
    _, component = connected_components(graph, directed=False)
    component = component[pairs.predicted]
    is_alone = np.bincount(component)[component] == 1
    for numerator, credit in zip(sums, (pairs.of_precision, pairs.of_recall), strict=True):
        numerator += np.bincount(pairs.output[is_alone], weights=credit[is_alone], minlength=n_outputs)
    fronts: dict[int, list[Point]] = {}
    for output, front in _fronts(pairs, np.flatnonzero(~is_alone), component):
        before = fronts.get(output)
        fronts[output] = front if before is None else _best([(a + c, b + d) for a, b in before for c, d in front])
    for output, front in fronts.items():
        alone = sums[0, output], sums[1, output]
        found = [(alone[0] + a, alone[1] + b) for a, b in front]
        sums[:, output] = found[0] if len(found) == 1 else _of_best_f(found, sizes[0][output], sizes[1][output])
    return sums[0], sums[1]


def _fronts(pairs: Pairs, rows: np.ndarray, component: np.ndarray) -> Iterator[tuple[int, list[Point]]]:
    """Output and best choices of each component that contains any of these rows of pairs."""
    rows = rows[np.lexsort((pairs.gold[rows], pairs.predicted[rows], component[rows]))]
    bounds = np.flatnonzero(np.diff(component[rows])) + 1
    columns = (pairs.predicted, pairs.gold, pairs.of_precision, pairs.of_recall)
    edges = list(zip(*(column[rows].tolist() for column in columns), strict=True))
    outputs = pairs.output[rows].tolist()
    for first, last in zip([0, *bounds.tolist()], [*bounds.tolist(), len(rows)], strict=True):
        if first < last:
            yield outputs[first], _front(edges[first:last])


def _front(edges: list[tuple[int, int, float, float]]) -> list[Point]:
    """The choices of pairs of one component that no other choice dominates in both sums."""
    if len({row for row, *_ in edges}) == 1 or len({beside for _, beside, *_ in edges}) == 1:
        return _best([(a, b) for *_, a, b in edges])
    if all(a == b for *_, a, b in edges):
        return [_greatest_sum(edges)]
    by_row: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
    last_row: dict[int, int] = {}
    for row, beside, a, b in edges:
        by_row[row].append((beside, a, b))
        last_row[beside] = row
    states: dict[frozenset[int], list[Point]] = {frozenset(): [(0.0, 0.0)]}
    for row, choices in by_row.items():
        done = {beside for beside, *_ in choices if last_row[beside] == row}
        found: dict[frozenset[int], list[Point]] = defaultdict(list)
        for used, front in states.items():
            found[used - done] += front
            for beside, a, b in choices:
                if beside not in used:
                    found[(used | {beside}) - done] += [(a + c, b + d) for c, d in front]
        states = {used: _best(front) for used, front in found.items()}
        if len(states) > _MOST_STATES:
            raise ValueError("more overlapping spans in one output than an exact matching can be found for")
    (front,) = states.values()
    return front


def _greatest_sum(edges: list[tuple[int, int, float, float]]) -> Point:
    """The best choice if each pair adds the same amount to both numerators."""
    from scipy.optimize import linear_sum_assignment

    rows, places = (np.unique([edge[side] for edge in edges], return_inverse=True)[1] for side in (0, 1))
    credit = np.zeros((rows.max() + 1, places.max() + 1))
    credit[rows, places] = [edge[2] for edge in edges]
    total = float(credit[linear_sum_assignment(credit, maximize=True)].sum())
    return total, total


def _best(points: list[Point]) -> list[Point]:
    """The choices that no other choice dominates in both sums, each once."""
    if len(points) == 1:
        return points
    kept: list[Point] = []
    for a, b in sorted(points, reverse=True):
        if not kept or b > kept[-1][1]:
            kept.append((a, b))
    return kept


def _of_best_f(points: list[Point], n_predicted: float, n_gold: float) -> Point:
    """The choice with the greatest F, then P + R, then P; equal within a tolerance."""

    def rates(point: Point) -> tuple[float, float, float]:
        p, r = point[0] / n_predicted, point[1] / n_gold
        return (2 * p * r / (p + r) if p + r else 0.0), p + r, p

    left = points
    for place in range(3):
        most = max(rates(point)[place] for point in left)
        left = [point for point in left if rates(point)[place] >= most - _SAME]
    return left[0]
