"""Means with a metric's help by hand, against a plain loop, by properties, and their coverage by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.kernels.resampling.assisted_means import assisted_mean


def test_a_perfect_metric_gives_the_mean_of_all_outputs_from_a_few_judgements() -> None:
    everything = np.arange(40.0)
    found = assisted_mean(3 * everything[:10] + 1, everything[:10], everything)
    assert found.estimate == pytest.approx(3 * 19.5 + 1)
    assert found.high - found.low == pytest.approx(0, abs=1e-9)
    assert found.saved == pytest.approx(1)


def test_a_constant_metric_leaves_the_plain_mean_with_its_interval() -> None:
    judged = np.random.default_rng(1).normal(size=20)
    found = assisted_mean(judged, np.ones(20), np.ones(100))
    assert found.estimate == pytest.approx(judged.mean())
    assert found.saved == 0
    half = stats.t.ppf(0.975, 19) * np.sqrt(judged.var(ddof=1) * (1 / 20 - 1 / 100))
    assert [found.low, found.high] == pytest.approx([judged.mean() - half, judged.mean() + half])


def test_all_outputs_judged_leave_nothing_to_estimate() -> None:
    rng = np.random.default_rng(2)
    judged, metric = rng.normal(size=30), rng.normal(size=30)
    found = assisted_mean(judged, metric, metric)
    assert found.low == pytest.approx(found.high)


def test_the_estimate_equals_a_plain_loop_over_folds() -> None:
    rng = np.random.default_rng(3)
    everything = rng.normal(size=200)
    metric = everything[:50]
    judged = 0.7 * metric + rng.normal(size=50)
    adjusted = []
    for i in range(50):
        others = [j for j in range(50) if j % 10 != i % 10]
        slope = stats.linregress(metric[others], judged[others]).slope
        adjusted.append(judged[i] - slope * (metric[i] - everything.mean()))
    found = assisted_mean(judged, metric, everything)
    assert found.estimate == pytest.approx(np.mean(adjusted))
    assert found.saved == pytest.approx(1 - np.var(adjusted) / np.var(judged))


@pytest.mark.parametrize(("n", "n_all"), [(50, 400), (100, 460)])
def test_with_one_slope_for_all_the_estimate_is_that_of_prediction_powered_inference(n: int, n_all: int) -> None:
    """PPI++: λ mean(m of unjudged) + mean(y - λ m of judged), λ = cov / ((1 + n / (N - n)) var).

    ppi-python 0.2.3 gives 0.04014777 and 0.09163793 for these arrays and this λ.
    """
    rng = np.random.default_rng(1)
    for size in ((50, 400), (100, 460)):
        metric = rng.normal(size=size[1])
        human = 0.7 * metric + rng.normal(size=size[1])
        if size == (n, n_all):
            break
    judged, of_judged, rest = human[:n], metric[:n], metric[n:]
    slope = np.cov(judged, of_judged)[0, 1] / of_judged.var(ddof=1) / (1 + n / (n_all - n))
    expected = slope * rest.mean() + (judged - slope * of_judged).mean()
    assert expected == pytest.approx({50: 0.04014777, 100: 0.09163793}[n], abs=1e-8)
    # Slopes that leave out the output itself change the estimate by far less than its standard error of .10 to .14.
    assert assisted_mean(judged, of_judged, metric, n_folds=n).estimate == pytest.approx(expected, abs=0.006)


def test_equal_probabilities_change_nothing_and_clusters_of_one_neither() -> None:
    rng = np.random.default_rng(6)
    metric, judged = rng.normal(size=120), rng.normal(size=30)
    plain = assisted_mean(judged, metric[:30], metric)
    assert assisted_mean(judged, metric[:30], metric, probabilities=np.full(30, 0.25)) == pytest.approx(plain)
    assert assisted_mean(judged, metric[:30], metric, clusters=np.arange(30)[::-1]) == pytest.approx(plain)


def test_unequal_probabilities_weight_by_hand() -> None:
    """A constant metric: two strata of 10 and 40 outputs, of which 5 and 10 were judged: weights 2 and 4."""
    judged = np.concatenate([np.full(5, 10.0), np.full(10, 1.0)])
    chance = np.repeat([0.5, 0.25], [5, 10])
    found = assisted_mean(judged, np.ones(15), np.ones(50), probabilities=chance)
    assert found.estimate == pytest.approx((10 * 10 + 40 * 1) / 50)
    residuals = (judged - 2.8) / chance * np.sqrt(1 - chance)
    half = stats.t.ppf(0.975, 14) * np.sqrt(15 / 14 * (residuals**2).sum()) / 50
    assert found.high - found.estimate == pytest.approx(half)


@pytest.mark.slow
def test_intervals_of_documents_and_of_unequal_samples_hold_the_mean() -> None:
    """500 campaigns each: 95% has a standard error of 1%."""
    rng = np.random.default_rng(7)
    covered = np.zeros(3)
    documents = np.repeat(np.arange(60), 8)
    for _ in range(500):
        metric = rng.normal(size=480)
        human = metric + rng.normal(size=480) + 1.5 * rng.normal(size=60)[documents]
        chosen = rng.permutation(60)[:20]
        sample = np.concatenate([np.flatnonzero(documents == one) for one in chosen])
        by = [documents[sample], None]
        for place, clusters in enumerate(by):
            found = assisted_mean(human[sample], metric[sample], metric, clusters=clusters)
            covered[place] += found.low <= human.mean() <= found.high
        chance = np.clip(0.25 + 0.1 * metric, 0.05, 0.9)  # outputs that the metric likes are judged more often
        sample = rng.permutation(np.flatnonzero(rng.random(480) < chance))
        found = assisted_mean(human[sample], metric[sample], metric, probabilities=chance[sample])
        covered[2] += found.low <= human.mean() <= found.high
    by_document, by_segment, weighted = covered / 500
    assert 0.92 <= by_document <= 0.98
    assert by_segment < 0.85
    assert 0.92 <= weighted <= 0.98


@given(st.integers(0, 1000), st.floats(0.1, 10), st.floats(-10, 10))
def test_the_scale_of_a_metric_changes_nothing_and_a_constant_moves_the_estimate_alone(
    seed: int, scale: float, shift: float
) -> None:
    rng = np.random.default_rng(seed)
    everything, judged = rng.normal(size=(2, 60)), rng.normal(size=20)
    found = assisted_mean(judged, everything[:, :20], everything)
    rescaled = scale * everything + shift
    assert assisted_mean(judged, rescaled[:, :20], rescaled) == pytest.approx(found, abs=1e-6)
    moved = assisted_mean(judged + shift, everything[:, :20], everything)
    assert moved.estimate - found.estimate == pytest.approx(shift, abs=1e-6)
    assert moved.saved == pytest.approx(found.saved, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("slope", "saved"), [(0.0, 0.0), (1.0, 0.5)])
def test_intervals_hold_the_mean_of_all_outputs_and_a_useless_metric_costs_nothing(slope: float, saved: float) -> None:
    """600 campaigns: 60 of 400 outputs judged. A coverage of 95% has a standard error of .9%."""
    rng = np.random.default_rng(4)
    covered, shares, widths = 0, [], []
    for _ in range(600):
        metric = rng.normal(size=400)
        human = slope * metric + rng.normal(size=400)
        found = assisted_mean(human[:60], metric[:60], metric)
        covered += found.low <= human.mean() <= found.high
        shares.append(found.saved)
        plain = 2 * stats.t.ppf(0.975, 59) * np.sqrt(human[:60].var(ddof=1) * (1 / 60 - 1 / 400))
        widths.append((found.high - found.low) / plain)
    assert 0.925 <= covered / 600 <= 0.975
    assert np.mean(shares) == pytest.approx(saved, abs=0.04)
    assert np.mean(widths) <= 1.02


def test_several_metrics_help_more_than_the_better_of_them() -> None:
    rng = np.random.default_rng(5)
    everything = rng.normal(size=(2, 600))
    judged = everything[:, :200].sum(axis=0) + rng.normal(size=200) * 0.5
    both = assisted_mean(judged, everything[:, :200], everything)
    alone = [assisted_mean(judged, everything[i, :200], everything[i]) for i in (0, 1)]
    assert both.saved > max(one.saved for one in alone) + 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": [1, 2]}, "clusters must be"),
        ({"clusters": [1] * 6}, "1 clusters are too few"),
        ({"probabilities": [0.5] * 5 + [0.0]}, "probabilities must be"),
    ],
)
def test_samples_that_cannot_be_are_refused(options: dict[str, list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assisted_mean([1.0] * 6, [1.0] * 6, [1.0] * 9, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([1.0] * 4, [1.0] * 4, [1.0] * 9), "too few"),
        (([1.0] * 6, [1.0] * 5, [1.0] * 9), "judged must be"),
        (([1.0] * 6, [1.0] * 6, [1.0] * 5), "only 5"),
        (([1.0] * 5 + [np.nan], [1.0] * 6, [1.0] * 9), "finite"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays: tuple[list[float], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assisted_mean(*arrays)
