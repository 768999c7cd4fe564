"""Small score arrays with ties, near-ties, extreme values and missing cells, for property tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from metaeval.kernels import Grouping, group_labels
from metaeval.kernels.arrays.checks import Floats, Ints

FEW = st.sampled_from([0.0, 1.0, 2.0, 3.0])
TENTHS = st.integers(-12, 12).map(lambda tenths: tenths * 0.1)  # 0.30000000000000004 and the like
WIDE = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: x + 0.0)
EXTREME = st.sampled_from([0.0, 5e-324, 1e-300, 0.1, 0.30000000000000004, 1.0, 1e15, 1e15 + 1])
VALUES = st.sampled_from([FEW, TENTHS, WIDE])


@dataclass(frozen=True)
class Scores:
    """human (n_systems, n_segments) with NaN, metrics (n_metrics, n_systems, n_segments), labels."""

    human: Floats
    metrics: Floats
    labels: Ints


@st.composite
def scores(
    draw: st.DrawFn,
    max_systems: int = 5,
    max_segments: int = 6,
    max_metrics: int = 2,
    extreme: bool = False,
    missing: bool = True,
) -> Scores:
    """Scores of a few systems and segments, grouped by none, item, system or by hand."""
    shape = draw(st.integers(2, max_systems)), draw(st.integers(1, max_segments))
    n_metrics = draw(st.integers(1, max_metrics))
    n = shape[0] * shape[1]

    def array(values: st.SearchStrategy[float], size: int) -> Floats:
        return np.array(draw(st.lists(values, min_size=size, max_size=size)), dtype=np.float64)

    human = array(draw(VALUES), n).reshape(shape)
    metric_values = draw(st.sampled_from([FEW, TENTHS, WIDE, EXTREME]) if extreme else VALUES)
    metrics = array(metric_values, n_metrics * n).reshape(n_metrics, *shape)
    if missing and draw(st.booleans()):
        unjudged = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n))).reshape(shape)
        human[unjudged] = np.nan
    by: Grouping | None = draw(st.sampled_from(["none", "item", "system", None]))
    if by is None:
        labels = np.array(draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))).reshape(shape)
    else:
        labels = group_labels(by, shape)
    return Scores(human, metrics, labels.astype(np.int64))


def coarse_scores(seed: int, shape: tuple[int, int] = (5, 9), n_human: int = 4) -> tuple[Floats, Floats]:
    """Coarse scores with missing judgements; two metrics are equal, one is constant, one shares some scores."""
    rng = np.random.default_rng(seed)
    human = rng.integers(1 - n_human, 1, shape).astype(float)
    human[rng.random(shape) < 0.3] = np.nan
    metrics = np.round(rng.normal(0, 1, (6, *shape)), 1)
    metrics[1] = metrics[0]
    metrics[2] = 7.0
    metrics[4] = np.where(rng.random(shape) < 0.8, metrics[3], metrics[3].max())
    return human, metrics
