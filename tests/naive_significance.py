"""Significance by plain loops: every hybrid is built and measured on its own. Slow, and meant to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Statistic = Callable[[Floats, Floats], float]  # (human (N, S), one metric (N, S)) -> value
TOLERANCE = 1e-9


def z_scores(human: Floats, metric: Floats) -> Floats:
    """Standardised over the judged cells; a constant metric becomes 0."""
    judged = metric[np.isfinite(human)]
    if len(set(judged.tolist())) == 1:
        return np.zeros_like(metric)
    standardised: Floats = (metric - np.mean(judged)) / np.std(judged)
    return standardised


def hybrid(a: Floats, b: Floats, swap: str, mask: Bools) -> Floats:
    """Metric a with the masked units of metric b, cell by cell."""
    result = a.copy()
    for i in range(a.shape[0]):
        for s in range(a.shape[1]):
            if {"inputs": lambda: mask[s], "systems": lambda: mask[i], "both": lambda: mask[i, s]}[swap]():  # noqa: B023
                result[i, s] = b[i, s]
    return result


def swapped_differences(
    statistic: Statistic, human: Floats, metrics: Floats, swap: str, masks: Iterable[Bools]
) -> tuple[Floats, Floats]:
    """Values (M,), and the difference a − b of every draw after the swap, (n_draws, M, M)."""
    scores = [z_scores(human, metric) for metric in metrics]
    values = np.array([statistic(human, metric) for metric in scores])
    differences = []
    for mask in masks:
        delta = np.zeros((len(scores), len(scores)))
        for a in range(len(scores)):
            for b in range(a + 1, len(scores)):
                one = statistic(human, hybrid(scores[a], scores[b], swap, mask))
                other = statistic(human, hybrid(scores[b], scores[a], swap, mask))
                delta[a, b], delta[b, a] = one - other, other - one
        differences.append(delta)
    return values, np.array(differences)


def pooled_accuracy_differences(
    sets: Sequence[tuple[Floats, Floats]], masks: Iterable[Bools], ties: str = "organisers"
) -> tuple[Floats, Floats]:
    """As `swapped_differences`, of the accuracy over the system pairs of all language pairs.

    sets: (human (N,), metrics (M, N)) of each; a mask names the systems of the first, then of the second, and so on.
    Each metric is standardised over the system scores of all language pairs together before whole systems are swapped.
    """
    n_metrics = len(sets[0][1])
    human = np.concatenate([h for h, _ in sets])
    scores = [z_scores(human, np.concatenate([m[metric] for _, m in sets])) for metric in range(n_metrics)]
    place = np.repeat(np.arange(len(sets)), [len(h) for h, _ in sets])

    def accuracy(metric: Floats) -> float:
        n_right = n_pairs = 0
        for i in range(len(human)):
            for j in range(i + 1, len(human)):
                if place[i] != place[j] or np.isnan(human[i]) or np.isnan(human[j]):
                    continue
                if ties == "tship" and human[i] == human[j]:
                    continue
                n_right += sign(human[i] - human[j]) == sign(metric[i] - metric[j])
                n_pairs += 1
        return n_right / n_pairs

    differences = []
    for mask in masks:
        delta = np.zeros((n_metrics, n_metrics))
        for a in range(n_metrics):
            for b in range(n_metrics):
                swapped = np.where(mask, scores[b], scores[a]), np.where(mask, scores[a], scores[b])
                delta[a, b] = accuracy(swapped[0]) - accuracy(swapped[1])
        differences.append(delta)
    return np.array([accuracy(metric) for metric in scores]), np.array(differences)


def n_extreme(values: Floats, differences: Floats, *, two_sided: bool) -> npt.NDArray[np.int64]:
    """Draws at least as extreme as what was observed, for all pairs of metrics; undefined ones are counted."""
    count = np.zeros((len(values), len(values)), dtype=np.int64)
    for delta in differences:
        for a in range(len(values)):
            for b in range(len(values)):
                observed = values[a] - values[b]
                if two_sided:
                    count[a, b] += not abs(delta[a, b]) < abs(observed) - TOLERANCE
                else:
                    count[a, b] += not delta[a, b] < observed - TOLERANCE
    return count


def pearson_of(h: Floats, m: Floats) -> float:
    """Pearson r of two vectors; NaN where one is constant up to rounding."""
    if np.ptp(h) == 0 or np.ptp(m) < 1e-9:
        return np.nan
    return float(np.corrcoef(h, m)[0, 1])


def pearson_in_groups(labels: npt.NDArray[np.int64]) -> Statistic:
    """Mean over groups of Pearson r; groups with fewer than 2 judged cells or without a value are left out."""

    def statistic(human: Floats, metric: Floats) -> float:
        values = []
        for label in np.unique(labels[labels >= 0]):
            cells = (labels == label) & np.isfinite(human)
            if cells.sum() >= 2:
                values.append(pearson_of(human[cells], metric[cells]))
        defined = [value for value in values if not np.isnan(value)]
        return float(np.mean(defined)) if defined else np.nan

    return statistic


def rank_correlation_by_item(name: str) -> Statistic:
    """Mean over segments of SciPy's spearmanr or kendalltau."""

    def statistic(human: Floats, metric: Floats) -> float:
        values = []
        for s in range(human.shape[1]):
            cells = np.isfinite(human[:, s])
            h, m = human[cells, s], metric[cells, s]
            if cells.sum() < 2 or np.ptp(h) == 0 or np.ptp(m) == 0:
                continue
            test = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}[name]
            values.append(float(test(h, m).statistic))
        return float(np.mean(values)) if values else np.nan

    return statistic


def acc23_by_item(human: Floats, metric: Floats, systems: Ints | None = None) -> float:
    """Share of cell pairs of a segment that the metric orders or ties as humans do; mean over segments.

    systems: which system each row comes from; a system makes no pair with its own copy.
    """
    shares = []
    origin = np.arange(len(human)) if systems is None else systems
    for s in range(human.shape[1]):
        cells = [i for i in range(human.shape[0]) if np.isfinite(human[i, s])]
        pairs = [(i, j) for i in cells for j in cells if i < j and origin[i] != origin[j]]
        if pairs:
            right = [sign(human[i, s] - human[j, s]) == sign(metric[i, s] - metric[j, s]) for i, j in pairs]
            shares.append(np.mean(right))
    return float(np.mean(shares))


def tau_a_pooled_over_items(human: Floats, metric: Floats) -> float:
    """(C − D) / pairs over the pairs of all segments together."""
    balance, n_pairs = 0, 0
    for s in range(human.shape[1]):
        cells = [i for i in range(human.shape[0]) if np.isfinite(human[i, s])]
        for i in cells:
            for j in cells:
                if i < j:
                    n_pairs += 1
                    balance += sign(human[i, s] - human[j, s]) * sign(metric[i, s] - metric[j, s])
    return balance / n_pairs


def pairwise_difference_pearson(human: Floats, metric: Floats) -> float:
    """Pearson r over all ordered pairs of judged cells of a segment; 0 where a side is constant."""
    h, m = [], []
    for s in range(human.shape[1]):
        cells = [i for i in range(human.shape[0]) if np.isfinite(human[i, s])]
        for i in cells:
            for j in cells:
                if i != j:
                    h.append(human[i, s] - human[j, s])
                    m.append(metric[i, s] - metric[j, s])
    value = pearson_of(np.array(h), np.array(m))
    return 0.0 if np.isnan(value) else value


def system_means(human: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """Means over the judged cells of each system that has some."""
    judged = np.isfinite(human)
    used = [i for i in range(len(human)) if judged[i].any()]
    h = np.array([np.mean(human[i][judged[i]]) for i in used])
    m = np.array([np.mean(metric[i][judged[i]]) for i in used])
    return h, m


def sign(difference: float) -> int:
    """−1, 0 or 1; 0 up to 1e-9."""
    return int(difference > TOLERANCE) - int(difference < -TOLERANCE)


def system_correlation(name: str) -> Statistic:
    """SciPy's correlations of system means; means that differ by rounding only are made equal first."""

    def statistic(human: Floats, metric: Floats) -> float:
        h, m = (np.round(x, 9) + 0.0 for x in system_means(human, metric))
        if np.ptp(h) == 0 or np.ptp(m) == 0:
            return np.nan
        if name == "pearson":
            return pearson_of(*system_means(human, metric))
        test = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}[name]
        return float(test(h, m).statistic)

    return statistic


def pairwise_accuracy(ties: str) -> Statistic:
    """Share of system pairs in the human order; a system makes no pair with its own copy."""

    def statistic(human: Floats, metric: Floats, systems: Ints | None = None) -> float:
        judged = np.isfinite(human).any(axis=1)
        origin = (np.arange(len(human)) if systems is None else systems)[judged]
        h, m = system_means(human, metric)
        right, n_pairs = 0, 0
        for i in range(len(h)):
            for j in range(i + 1, len(h)):
                if origin[i] == origin[j]:
                    continue
                if ties == "tship" and sign(h[i] - h[j]) == 0:
                    continue
                n_pairs += 1
                right += sign(h[i] - h[j]) == sign(m[i] - m[j])
        return right / n_pairs if n_pairs else np.nan

    return statistic


def inner_p(x: Floats, y: Floats, signs: npt.NDArray[np.int8] | None) -> float:
    """One-sided paired permutation p that x is better than y, on their common segments."""
    both = np.isfinite(x) & np.isfinite(y)
    d = x[both] - y[both]
    if signs is None:
        variance = float(np.sum(d**2))
        return 1.0 if variance < 1e-18 else float(stats.norm.sf(np.sum(d) / np.sqrt(variance)))
    limit = np.sum(d) - TOLERANCE * np.sum(np.abs(d)) - 1e-12
    return float(np.mean([np.sum(row[both] * d) >= limit for row in signs.astype(np.float64)]))


def soft_pairwise(signs: npt.NDArray[np.int8] | None) -> Statistic:
    """1 − mean |p human − p metric| over system pairs with common segments; copies of a system make no pair."""

    def statistic(human: Floats, metric: Floats, systems: Ints | None = None) -> float:
        masked = np.where(np.isfinite(human), metric, np.nan)
        origin = np.arange(len(human)) if systems is None else systems
        pairs = [
            (i, j)
            for i in range(len(human))
            for j in range(i + 1, len(human))
            if origin[i] != origin[j] and np.isfinite(human[[i, j]]).all(axis=0).any()
        ]
        gaps = [abs(inner_p(human[i], human[j], signs) - inner_p(masked[i], masked[j], signs)) for i, j in pairs]
        return 1.0 - float(np.mean(gaps)) if gaps else np.nan

    return statistic


def pairs_only_right(
    human: Floats, metrics: Floats, labels: npt.NDArray[np.int64], epsilon: Floats
) -> npt.NDArray[np.int64]:
    """[a, b]: pairs of cells of one group that metric a gets right and metric b wrong."""
    count = np.zeros((len(metrics), len(metrics)), dtype=np.int64)
    cells = [tuple(c) for c in np.argwhere(np.isfinite(human) & (labels >= 0))]
    for x, first in enumerate(cells):
        for second in cells[x + 1 :]:
            if labels[first] != labels[second]:
                continue
            h = np.sign(human[first] - human[second])
            right = []
            for metric, threshold in zip(metrics, epsilon, strict=True):
                gap = metric[first] - metric[second]
                right.append((0 if abs(gap) <= threshold else np.sign(gap)) == h)
            for a in range(len(metrics)):
                for b in range(len(metrics)):
                    count[a, b] += right[a] and not right[b]
    return count


def outcomes_of_resample(
    by: str, human: Floats, metric: Floats, systems: Ints, segments: Ints, epsilon: float = 0.0
) -> list[dict[str, float]]:
    """C, D, Th, Tm and Thm of each group of a resampled array: by item, system or none, pair by pair.

    systems, segments: where rows and columns come from. Two copies of a system make no pair, nor do two copies of a
    segment; groups without a pair are not among them.
    """
    n_rows, n_columns = human.shape
    cells = [(a, s) for a in range(n_rows) for s in range(n_columns) if np.isfinite(human[a, s])]
    group = {"item": lambda a, s: s, "system": lambda a, s: a, "none": lambda a, s: 0}[by]
    found: dict[int, dict[str, float]] = {}
    for x, (a, s) in enumerate(cells):
        for b, t in cells[x + 1 :]:
            if group(a, s) != group(b, t):
                continue
            if (a != b and systems[a] == systems[b]) or (s != t and segments[s] == segments[t]):
                continue
            counts = found.setdefault(group(a, s), dict.fromkeys(("C", "D", "Th", "Tm", "Thm"), 0))
            h, gap = sign(human[a, s] - human[b, t]), metric[a, s] - metric[b, t]
            m = 0 if abs(gap) <= epsilon else int(np.sign(gap))
            counts["Thm" if h == m == 0 else "Th" if h == 0 else "Tm" if m == 0 else "C" if h == m else "D"] += 1
    return list(found.values())
