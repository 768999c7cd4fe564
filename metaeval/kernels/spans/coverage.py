"""How often each character is marked, by severity, on stretches between the ends of spans."""

from dataclasses import dataclass

import numpy as np

from .flat_spans import Spans

_N_KINDS = 4  # predicted minor, predicted major, gold minor, gold major


@dataclass(frozen=True)
class Stretches:
    """Stretches of text that no span begins or ends inside of, of all outputs and sides one after the other.

    covered: (n, 2, 2) how many spans of each kind cover a stretch: predicted or gold, minor or major. length:
    characters; 0 where a text's last span ends. output: which output a stretch is of. first, last: for predicted spans
    and for gold ones, the stretch that each begins with, and the first that it no longer covers.
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
    """Cut the texts at all starts and ends of spans."""
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
    """Of marks on a stretch, (n, 2, 2), those matched within their severity, (n, 2), and across severities.

    crossed[:, s]: predicted marks of severity s against gold ones of the other. Marks may be counts or sums of weights.
    """
    exact = covered.min(axis=1)
    rest = covered - exact[:, None, :]
    return exact, np.minimum(rest[:, 0, :], rest[:, 1, ::-1])
