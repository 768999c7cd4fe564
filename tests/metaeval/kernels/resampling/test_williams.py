"""Williams' test: known numbers, the formula by hand, and its size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from metaeval.kernels.resampling.published_tests import williams_p, williams_t, williams_test
from tests.helpers import real_data, refused


def wmt12_es_en() -> tuple[np.ndarray, np.ndarray, list[str]]:
    folder = real_data("wmt12-es-en")

    def rows(name: str) -> list[list[str]]:
        lines = (folder / name).read_text(encoding="utf-8").splitlines()[1:]
        return [line.split("\t") for line in lines if line.split("\t")[1] == "es-en"]

    human = {system: float(score) for _, _, _, system, score in rows("mt-systems-scored-by-humans")}
    systems = sorted(human)
    by_metric: dict[str, dict[str, float]] = {}
    for metric, _, _, system, score in rows("mt-systems-scored-by-metrics"):
        by_metric.setdefault(metric, {})[system] = float(score)
    names = sorted(name for name, scores in by_metric.items() if set(systems) <= set(scores))
    metrics = np.array([[by_metric[name][system] for system in systems] for name in names])
    return np.array([human[system] for system in systems]), metrics, names


def test_amber_over_bleu_on_wmt12_es_en_has_the_published_p() -> None:
    # Graham & Baldwin's example: p = 0.0114079 with n − 2 degrees of freedom; n − 3 gives 0.0124588, t = 2.687028
    human, metrics, names = wmt12_es_en()
    a, b = names.index("AMBER"), names.index("BLEU_4_closest_cased")
    result = williams_test(human, metrics, absolute=True)
    assert result.values[a] == pytest.approx(0.880651168828011, abs=1e-9)
    assert result.values[b] == pytest.approx(0.760352368043568, abs=1e-9)
    assert result.t[a, b] == pytest.approx(2.687028, abs=5e-7)
    assert result.p[a, b] == pytest.approx(0.0124588, abs=5e-8)
    legacy = williams_test(human, metrics, absolute=True, legacy_df=True)
    assert legacy.p[a, b] == pytest.approx(0.0114079, abs=5e-8)
    assert result.n_systems == 12


def test_the_number_of_significant_pairs_on_wmt12_es_en_is_the_known_one() -> None:
    human, metrics, names = wmt12_es_en()
    assert len(names) == 12
    for legacy, expected in ((False, 36), (True, 38)):
        result = williams_test(human, metrics, absolute=True, legacy_df=legacy)
        assert int(np.count_nonzero(result.p <= 0.05)) == expected


def test_the_statistic_is_worked_out_by_hand() -> None:
    # n = 12, r13 = 0.9, r23 = 0.8, r12 = 0.7: K = 1 − .49 − .81 − .64 + 1.008 = 0.068
    numerator = 0.1 * np.sqrt(11 * 1.7)
    denominator = np.sqrt(2 * 0.068 * 11 / 9 + 1.7**2 / 4 * 0.3**3)
    assert williams_t(0.9, 0.8, 0.7, 12) == pytest.approx(numerator / denominator)
    t = 1.5
    assert williams_p(t, 12) == pytest.approx(stats.t.sf(t, 9))
    assert williams_p(t, 12, legacy_df=True) == pytest.approx(stats.t.sf(t, 10))


def test_the_two_directions_add_up_to_one() -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(0, 1, 14)
    result = williams_test(human, human + rng.normal(0, 1, (5, 14)))
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_allclose((result.p + result.p.T)[off], 1.0)
    np.testing.assert_allclose((result.t + result.t.T)[off], 0.0, atol=1e-12)
    assert np.isnan(np.diag(result.p)).all()
    larger = result.values[:, None] > result.values
    assert (result.p[larger] < 0.5).all()


def test_identical_metrics_cannot_be_told_apart() -> None:
    human = np.array([1.0, 2.0, 4.0, 3.0, 7.0])
    metric = np.array([2.0, 1.0, 4.0, 3.0, 5.0])
    result = williams_test(human, [metric, 3.0 * metric + 1.0])
    assert result.t[0, 1] == 0.0
    assert result.p[0, 1] == 0.5


def test_a_mirrored_metric_has_the_limit_of_nearly_mirrored_ones() -> None:
    exact = williams_t(0.6, -0.6, -1.0, 10)
    nearly = williams_t(0.6, -0.6, -1.0 + 1e-9, 10)
    assert exact == pytest.approx(nearly, rel=1e-6)


def test_absolute_values_credit_a_wrongly_signed_metric_and_signed_ones_do_not() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(0, 1, 20)
    good, reversed_metric = human + rng.normal(0, 0.5, 20), -human + rng.normal(0, 0.2, 20)
    signed = williams_test(human, [good, reversed_metric])
    absolute = williams_test(human, [good, reversed_metric], absolute=True)
    assert signed.p[0, 1] < 1e-6
    assert absolute.p[0, 1] > 0.5


def test_a_constant_metric_has_no_p() -> None:
    human = np.array([1.0, 2.0, 4.0, 3.0, 7.0])
    result = williams_test(human, [human, np.ones(5), human[::-1]])
    assert np.isnan(result.p[1]).all()
    assert np.isnan(result.p[:, 1]).all()
    assert np.isfinite(result.p[0, 2])


def test_three_systems_or_one_metric_are_refused() -> None:
    refused("more than 3 systems, got 3", williams_test, [1.0, 2.0, np.nan, 3.0], np.ones((2, 4)))
    refused("more than 3 systems", williams_t, 0.5, 0.4, 0.3, 3)
    refused("at least 2", williams_test, [1.0, 2.0, 3.0, 4.0], np.ones((1, 4)))
