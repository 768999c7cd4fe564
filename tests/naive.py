"""The statistics again, as plain loops over cells and pairs: slow, obvious, and written without the kernels."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

Scores = Any  # (n_systems, n_segments), or any nested sequence of numbers


def groups(human: Scores, metric: Scores, labels: Scores) -> dict[int, list[tuple[float, float]]]:
    """The judged (human, metric) cells of each label that has at least two."""
    found: dict[int, list[tuple[float, float]]] = {}
    for human_row, metric_row, label_row in zip(human, metric, labels, strict=True):
        for h, m, label in zip(human_row, metric_row, label_row, strict=True):
            if label >= 0 and not math.isnan(h):
                found.setdefault(int(label), []).append((float(h), float(m)))
    return {label: found[label] for label in sorted(found) if len(found[label]) >= 2}


def pair_counts(cells: list[tuple[float, float]], epsilon: float = 0.0) -> dict[str, int]:
    """C, D, Th, Tm, Thm over the unordered pairs of one group."""
    counts = dict.fromkeys(("C", "D", "Th", "Tm", "Thm"), 0)
    for i, (h1, m1) in enumerate(cells):
        for h2, m2 in cells[:i]:
            is_metric_tie = abs(m1 - m2) <= epsilon
            if h1 == h2:
                counts["Thm" if is_metric_tie else "Th"] += 1
            elif is_metric_tie:
                counts["Tm"] += 1
            else:
                counts["C" if (h1 > h2) == (m1 > m2) else "D"] += 1
    return counts


def tau(name: str, cells: list[tuple[float, float]], epsilon: float = 0.0) -> float:
    """A tau of one group straight from its formula; NaN where it divides by zero."""
    n = pair_counts(cells, epsilon)
    c, d, th, tm, thm = n["C"], n["D"], n["Th"], n["Tm"], n["Thm"]
    p = c + d + th + tm + thm
    k = min(len({h for h, _ in cells}), len({m for _, m in cells}))
    top, bottom = {
        "tau_a": (c - d, p),
        "tau_b": (c - d, math.sqrt((c + d + th) * (c + d + tm))),
        "tau_c": (2 * (c - d) * k, len(cells) ** 2 * (k - 1)),
        "tau_10": (c - d - tm, c + d + tm),
        "tau_13": (c - d, c + d),
        "tau_14": (c - d, c + d + tm),
        "tau_23": (c + thm - d - th - tm, p),
        "acc23": (c + thm, p),
        "accuracy": (c, c + d + tm),
        "accuracy_with_half_ties": (c + tm / 2, c + d + tm),
    }[name]
    return top / bottom if bottom else math.nan


def calibration(human: Scores, metric: Scores, labels: Scores) -> tuple[Fraction, float, float] | None:
    """Best mean acc23 over groups, the smallest threshold with it, and the next threshold that is worse.

    Every threshold that occurs is tried, in exact fractions. None without a group.
    """
    cells = groups(human, metric, labels)
    if not cells:
        return None
    thresholds = {0.0}
    for group in cells.values():
        thresholds |= {abs(m1 - m2) for i, (_, m1) in enumerate(group) for _, m2 in group[:i]}
    values = {}
    for threshold in sorted(thresholds):
        total = Fraction(0)
        for group in cells.values():
            n = pair_counts(group, threshold)
            total += Fraction(n["C"] + n["Thm"], sum(n.values()))
        values[threshold] = total / len(cells)
    best = max(values.values())
    epsilon = min(threshold for threshold, value in values.items() if value == best)
    worse = [threshold for threshold, value in values.items() if threshold > epsilon and value < best]
    return best, epsilon, min(worse, default=math.inf)


def pearson(x: list[float], y: list[float]) -> float:
    """Pearson's r in exact fractions up to the last root; NaN where either side is constant."""
    xs, ys = [Fraction(v) for v in x], [Fraction(v) for v in y]
    n = len(xs)
    x_mean, y_mean = sum(xs) / n, sum(ys) / n
    xy = sum((a - x_mean) * (b - y_mean) for a, b in zip(xs, ys, strict=True))
    xx = sum((a - x_mean) ** 2 for a in xs)
    yy = sum((b - y_mean) ** 2 for b in ys)
    if xx == 0 or yy == 0:
        return math.nan
    return math.copysign(math.sqrt(xy**2 / (xx * yy)), xy)


def ranks(x: list[float]) -> list[float]:
    """Average ranks from 1."""
    return [sum(b < a for b in x) + (sum(b == a for b in x) + 1) / 2 for a in x]


def pairwise_differences(human: Scores, metric: Scores) -> tuple[list[float], list[float]]:
    """All ordered differences of judged cells of the same segment: human, metric."""
    h_gaps, m_gaps = [], []
    n_systems, n_segments = len(human), len(human[0])
    for s in range(n_segments):
        judged = [i for i in range(n_systems) if not math.isnan(human[i][s])]
        for i in judged:
            for j in judged:
                if i != j:
                    h_gaps.append(Fraction(float(human[i][s])) - Fraction(float(human[j][s])))
                    m_gaps.append(Fraction(float(metric[i][s])) - Fraction(float(metric[j][s])))
    return h_gaps, m_gaps  # type: ignore[return-value]


def pairwise_agreement(human: list[float], metric: list[float], ties: str) -> tuple[int, int]:
    """Agreeing and counted system pairs, by exact comparison; NaN = not judged."""
    n_agree = n_pairs = 0
    for i in range(len(human)):
        for j in range(i):
            if math.isnan(human[i]) or math.isnan(human[j]):
                continue
            human_sign = (human[i] > human[j]) - (human[i] < human[j])
            metric_sign = (metric[i] > metric[j]) - (metric[i] < metric[j])
            if ties == "tship" and human_sign == 0:
                continue
            n_pairs += 1
            n_agree += human_sign == metric_sign
    return n_agree, n_pairs


def sign_flip_p_value(first: list[float], second: list[float], signs: Scores) -> float:
    """Share of sign vectors with a flipped sum at least the observed one, in exact fractions.

    NaN in either list = not judged there. The scores' decimals are taken as written (0.1 is one tenth), so
    that equal sums are equal.
    """
    n_reached = 0
    common = [k for k in range(len(first)) if not (math.isnan(first[k]) or math.isnan(second[k]))]
    gaps = [Fraction(repr(float(first[k]))) - Fraction(repr(float(second[k]))) for k in common]
    observed = sum(gaps)
    for row in signs:
        n_reached += sum(gap if row[k] > 0 else -gap for k, gap in zip(common, gaps, strict=True)) >= observed
    return n_reached / len(signs)


def tau_ap(human: list[float], metric: list[float]) -> float:
    """τ_ap, the mean over all orders in which the metric can rank the systems; ties on one side only are wrong."""

    def sign(scores: list[float], i: int, j: int) -> int:
        return (scores[i] > scores[j]) - (scores[i] < scores[j])

    n = len(human)
    right = [[sign(human, i, j) == sign(metric, i, j) for j in range(n)] for i in range(n)]
    tied = [[i for i in range(n) if metric[i] == score] for score in sorted(set(metric), reverse=True)]
    total, n_orders = 0.0, 0
    for parts in itertools.product(*(itertools.permutations(systems) for systems in tied)):
        order = [system for part in parts for system in part]
        total += sum(sum(right[order[rank]][j] for j in order[:rank]) / rank for rank in range(1, n))
        n_orders += 1
    return 2 * total / n_orders / (n - 1) - 1


def best(human: list[float], n: int) -> list[int]:
    """Places of the n best, and of all that are tied with the last of them."""
    return [i for i, score in enumerate(human) if sum(other > score for other in human) < n]


def both(human: Scores, metric: Scores) -> list[tuple[float, float]]:
    """The judged (human, metric) scores, all together."""
    rows = zip(human, metric, strict=True)
    return [(float(h), float(m)) for row in rows for h, m in zip(*row, strict=True) if not math.isnan(h)]


def decided(name: str, human: Scores, metric: Scores, least: float) -> float:
    """mcc or F_1 at its best threshold of all scores; precision or recall at that of F_1; NaN for a constant metric."""
    cells = both(human, metric)
    best: tuple[float, float, float] | None = None  # criterion, minus threshold, value
    for threshold in {m for _, m in cells}:
        tp = sum(h >= least and m >= threshold for h, m in cells)
        fp = sum(h < least and m >= threshold for h, m in cells)
        fn = sum(h >= least and m < threshold for h, m in cells)
        tn = len(cells) - tp - fp - fn
        root = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        values = {
            "mcc": (tp * tn - fp * fn) / root if root else 0.0,
            "f_beta": 2 * tp / (2 * tp + fp + fn),
            "precision": tp / (tp + fp),
            "recall": tp / (tp + fn),
        }
        found = (values["mcc" if name == "mcc" else "f_beta"], -threshold, values[name])
        best = found if best is None else max(best, found)
    return math.nan if best is None or len({m for _, m in cells}) == 1 else best[2]


def average_precision(human: Scores, metric: Scores, least: float) -> float:
    """Mean precision at the scores of good outputs; NaN for a constant metric."""
    cells = both(human, metric)
    at = [[h >= least for h, m in cells if m >= threshold] for h0, threshold in cells if h0 >= least]
    if len({m for _, m in cells}) == 1:
        return math.nan
    return math.fsum(sum(called) / len(called) for called in at) / len(at)


def roc_auc(human: Scores, metric: Scores, least: float) -> float:
    """Share of pairs of a good output and another that the metric has right, ties half; NaN for a constant metric."""
    cells = both(human, metric)
    pairs = [(a, b) for h, a in cells if h >= least for g, b in cells if g < least]
    if len({m for _, m in cells}) == 1:
        return math.nan
    return math.fsum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)


def reranking_precision(human: Scores, metric: Scores) -> float:
    """Mean over segments of the share of the metric's best outputs that are people's best; NaN if constant."""
    shares = []
    for segment in range(len(human[0])):
        cells = [(row[segment], scores[segment]) for row, scores in zip(human, metric, strict=True)]
        cells = [(float(h), float(m)) for h, m in cells if not math.isnan(h)]
        selected = [h for h, m in cells if m == max(m for _, m in cells)]
        if selected:
            shares.append(sum(h == max(h for h, _ in cells) for h in selected) / len(selected))
    return math.nan if len({m for _, m in both(human, metric)}) == 1 else math.fsum(shares) / len(shares)


def brier(human: Scores, metric: Scores, least: float, fold_of: list[int]) -> float:
    """Brier score of an isotonic regression by the greatest of the least means, fitted to segments of other folds."""
    cells = [
        (fold_of[s], float(h >= least), float(m))
        for row, scores in zip(human, metric, strict=True)
        for s, (h, m) in enumerate(zip(row, scores, strict=True))
        if not math.isnan(h)
    ]
    gaps = []
    for fold in set(fold_of):
        others = [(m, good) for other, good, m in cells if other != fold]
        values = sorted({m for m, _ in others})
        good_below, n_below = [0.0], [0]
        for value in values:
            good_below.append(good_below[-1] + sum(good for m, good in others if m == value))
            n_below.append(n_below[-1] + sum(m == value for m, _ in others))
        means: list[list[float]] = []  # by low and at: the least mean of values from low to at or beyond
        for low in range(len(values)):
            row, best = [math.nan] * len(values), math.inf
            for high in reversed(range(low, len(values))):
                best = min(best, (good_below[high + 1] - good_below[low]) / (n_below[high + 1] - n_below[low]))
                row[high] = best
            means.append(row)
        fitted = [max(means[low][at] for low in range(at + 1)) for at in range(len(values))]
        for good, m in [(good, m) for own, good, m in cells if own == fold]:
            above = next((place for place, value in enumerate(values) if value >= m), None)
            if above is None or above == 0:
                p = fitted[-1] if above is None else fitted[0]
            else:
                part = (m - values[above - 1]) / (values[above] - values[above - 1])
                p = fitted[above - 1] + part * (fitted[above] - fitted[above - 1])
            gaps.append((p - good) ** 2)
    return math.fsum(gaps) / len(gaps)
