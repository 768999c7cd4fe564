"""The standard error of SPA without resampling: against derivatives by plain loops, and on new segments."""

import math

import numpy as np
import pytest

from metaeval.kernels import normal_p_values, soft_pairwise_accuracy
from metaeval.kernels.resampling.resampled_spa import soft_pairwise_standard_errors

NAN = float("nan")


def naive_spa(human: np.ndarray, metric: np.ndarray, weights: np.ndarray) -> float:
    """SPA of weighted segments by plain loops, p-values 1 − Φ(Σ w d / √Σ w d²)."""

    def p(scores: np.ndarray, first: int, second: int) -> float:
        both = [s for s in range(len(weights)) if not math.isnan(human[first][s] + human[second][s])]
        gaps = [(weights[s], scores[first][s] - scores[second][s]) for s in both]
        total, variance = math.fsum(w * d for w, d in gaps), math.fsum(w * d * d for w, d in gaps)
        return 0.5 * math.erfc(total / math.sqrt(2 * variance))

    pairs = [(i, j) for i in range(len(human)) for j in range(i + 1, len(human))]
    return 1 - math.fsum(abs(p(human, i, j) - p(metric, i, j)) for i, j in pairs) / len(pairs)


def naive_error(human: np.ndarray, metric: np.ndarray) -> float:
    """The infinitesimal jackknife with derivatives by central differences."""
    n, step = human.shape[1], 1e-5
    slopes = []
    for segment in range(n):
        moved = np.zeros(n)
        moved[segment] = step
        ahead, behind = (naive_spa(human, metric, np.ones(n) + sign * moved) for sign in (1, -1))
        slopes.append((ahead - behind) / (2 * step))
    mean = math.fsum(slopes) / n
    return math.sqrt(math.fsum((slope - mean) ** 2 for slope in slopes))


def scores(seed: int, n_systems: int = 5, n_segments: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(n_systems, 1)) * 0.3
    human = quality + rng.normal(size=(n_systems, n_segments))
    return human, human + rng.normal(size=(2, n_systems, n_segments)) * np.array([0.5, 2.0])[:, None, None]


def test_it_is_what_derivatives_by_plain_loops_give() -> None:
    human, metrics = scores(1, 4, 12)
    human[0, 3] = human[2, 7] = NAN
    found = soft_pairwise_standard_errors(human, metrics, ~np.isnan(human))
    assert found == pytest.approx([naive_error(human, metric) for metric in metrics], rel=1e-5)


def test_intervals_hold_the_mean_of_what_new_segments_give() -> None:
    """In 100 worlds 95% intervals hold the mean value at least 88 times: 3 binomial standard errors below 95."""
    rng = np.random.default_rng(11)
    quality = rng.normal(size=(6, 1)) * 0.3
    offset = rng.normal(size=(2, 6, 1)) * np.array([0.1, 0.24])[:, None, None]
    judged = np.ones((6, 150), bool)
    values, errors = [], []
    for _ in range(100):
        human = quality + rng.normal(size=(6, 150))
        metrics = human + offset + rng.normal(size=(2, 6, 150)) * np.array([0.5, 2.0])[:, None, None]
        p = normal_p_values(np.concatenate([human[np.newaxis], metrics]), judged)
        values.append(soft_pairwise_accuracy(p[0], p[1:]))
        errors.append(soft_pairwise_standard_errors(human, metrics, judged))
    n_held = (np.abs(np.array(values) - np.mean(values, axis=0)) <= 1.96 * np.array(errors)).sum(axis=0)
    assert (n_held >= 88).all()
    assert np.mean(errors, axis=0) == pytest.approx(np.std(values, axis=0), rel=0.35)


def test_it_does_not_depend_on_scale_and_shift_and_ignores_segments_that_nobody_judged() -> None:
    human, metrics = scores(4)
    judged = np.ones(human.shape, bool)
    found = soft_pairwise_standard_errors(human, metrics, judged)
    assert soft_pairwise_standard_errors(human * 3 - 1, metrics * 0.01 + 5, judged) == pytest.approx(found)
    wider = np.concatenate([human, np.full((5, 9), NAN)], axis=1)
    more = np.concatenate([metrics, np.ones((2, 5, 9))], axis=2)
    assert soft_pairwise_standard_errors(wider, more, ~np.isnan(wider)) == pytest.approx(found)


def test_a_metric_that_scores_as_humans_do_has_no_error() -> None:
    human, _ = scores(6)
    found = soft_pairwise_standard_errors(human, human[np.newaxis], np.ones(human.shape, bool))
    assert found.tolist() == [0.0]


def test_equal_scores_of_all_systems_give_an_error_and_no_warning() -> None:
    human, _ = scores(7)
    found = soft_pairwise_standard_errors(human, np.ones((1, *human.shape)), np.ones(human.shape, bool))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("judged", [[[True, False], [False, True]], [[True, False], [True, False]]])
def test_too_little_in_common_has_no_error(judged: list[list[bool]]) -> None:
    found = soft_pairwise_standard_errors([[1.0, 2.0], [3.0, 5.0]], [[[1.0, 2.0], [4.0, 3.0]]], judged)
    assert np.isnan(found).all()
