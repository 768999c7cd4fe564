"""Every measure on scores of the simulated task, against plain loops that know nothing of the kernels."""

import math
from collections.abc import Callable
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.stats import weightedtau

from metaeval import kernels
from metaeval.measures.judged import labels
from metaeval.measures.options import Options
from metaeval.measures.pairwise_accuracy import sign_generator
from metaeval.measures.registry import DEFINITIONS, parse_measure
from metaeval.measures.system_scores import system_scores
from metaeval.results.evaluation import Evaluation, evaluate
from queries.blocks import Block, fetch_block
from queries.selection import select
from queries.slices import Slice
from tests import naive
from warehouse import Warehouse

Grid = Any  # (n_systems, n_segments)


@pytest.fixture(scope="module")
def block(simulated_warehouse: Warehouse) -> Block:
    """A few systems, 24 segments, some not judged, one missing judgement more, and metrics of every kind."""
    metrics = ("Kestrel-24-QE", "Rubric-5", "Tally-errors", "Steady", "Dice", "simBLEU-refA")
    systems = ("Alder*", "Cedar*", "Dogwood", "Elm*", "Juniper", "WEB-*")
    asked = Slice("sim24", "ja-en", metrics=metrics, systems=systems, segments="80-103")
    found = fetch_block(simulated_warehouse, select(simulated_warehouse, asked))
    assert 5 <= len(found.systems) <= 9
    human = found.human.copy()
    human[0, np.flatnonzero(~np.isnan(human[0]))[3]] = np.nan
    documents = list(dict.fromkeys(found.selection.documents))
    FOLDS[:] = [documents.index(name) % 5 for name in found.selection.documents]
    assert 0 < np.isnan(human).sum() < human.size / 2
    return replace(found, human=human)


def _first_half(block: Block) -> Block:
    """The first half of its segments; documents and domains are not looked at."""
    n = len(block.segments) // 2
    return replace(block, human=block.human[:, :n], scores=block.scores[:, :, :n], segments=block.segments[:n])


def _value(measure: str, block: Block, **options: Any) -> Evaluation:
    return evaluate(parse_measure(measure), block, Options(**options))


Oracle = Callable[[Grid, Grid], float]  # human, metric -> value


def _system_means(human: Grid, metric: Grid, judged_only: bool = False) -> tuple[list[float], list[float]]:
    h = [float(np.mean([v for v in row if not math.isnan(v)])) for row in human]
    m = [
        float(np.mean([v for v, j in zip(row, judged, strict=True) if not (judged_only and math.isnan(j))]))
        for row, judged in zip(metric, human, strict=True)
    ]
    return h, m


def _by_group(by: str, statistic: Callable[[list[tuple[float, float]]], float]) -> Oracle:
    def oracle(human: Grid, metric: Grid) -> float:
        grid = kernels.group_labels(by, np.shape(human))  # type: ignore[arg-type]
        values = [statistic(cells) for cells in naive.groups(human, metric, grid).values()]
        defined = [value for value in values if not math.isnan(value)]
        return float(np.mean(defined)) if defined else math.nan

    return oracle


def _pearson(cells: list[tuple[float, float]]) -> float:
    return naive.pearson([h for h, _ in cells], [m for _, m in cells])


def _spearman(cells: list[tuple[float, float]]) -> float:
    return naive.pearson(naive.ranks([h for h, _ in cells]), naive.ranks([m for _, m in cells]))


def _pooled_tau_14(human: Grid, metric: Grid) -> float:
    grid = kernels.group_labels("item", np.shape(human))
    counts = [naive.pair_counts(cells) for cells in naive.groups(human, metric, grid).values()]
    c, d, tm = (sum(count[name] for count in counts) for name in ("C", "D", "Tm"))
    return (c - d) / (c + d + tm)


def _pairwise_accuracy(ties: str) -> Oracle:
    def oracle(human: Grid, metric: Grid) -> float:
        n_agree, n_pairs = naive.pairwise_agreement(*_system_means(human, metric), ties)
        return n_agree / n_pairs

    return oracle


N_DRAWS, SEED = 16, 3


def _soft(binary: bool) -> Oracle:
    def oracle(human: Grid, metric: Grid) -> float:
        judged = ~np.isnan(human).all(axis=0)
        h, m = np.asarray(human)[:, judged], np.where(np.isnan(human), np.nan, metric)[:, judged]
        signs = kernels.draw_signs(sign_generator(SEED), N_DRAWS, h.shape[1])
        gaps = []
        for i in range(len(h)):
            for j in range(i + 1, len(h)):
                p = naive.sign_flip_p_value(list(h[i]), list(h[j]), signs)
                q = naive.sign_flip_p_value(list(m[i]), list(m[j]), signs)
                gaps.append(abs((p >= 0.5) - (q >= 0.5)) if binary else abs(p - q))
        return 1 - float(np.mean(gaps))

    return oracle


def _soft_without_draws(p_of: Callable[[list[float]], float]) -> Oracle:
    def oracle(human: Grid, metric: Grid) -> float:
        def p(x: Grid, i: int, j: int) -> float:
            return p_of(
                [
                    float(x[i][s]) - float(x[j][s])
                    for s in range(len(x[0]))
                    if not (math.isnan(human[i][s]) or math.isnan(human[j][s]))
                ]
            )

        pairs = [(i, j) for i in range(len(human)) for j in range(i + 1, len(human))]
        return 1 - float(np.mean([abs(p(human, i, j) - p(metric, i, j)) for i, j in pairs]))

    return oracle


def _normal_p(gaps: list[float]) -> float:
    spread = math.sqrt(sum(gap**2 for gap in gaps))
    return 1 - NormalDist().cdf(sum(gaps) / spread) if spread else 1.0


def _p_of_all_signs(gaps: list[float]) -> float:
    sums = np.zeros(1)
    for gap in gaps:
        sums = np.concatenate([sums + gap, sums - gap])
    return float(np.mean(sums >= sum(gaps) - 1e-9))


def _weighted(human: Grid, metric: Grid) -> float:
    h, m = _system_means(human, metric)
    return math.nan if len(set(m)) == 1 else float(weightedtau(h, m).statistic)


def _top(n: int) -> Oracle:
    def oracle(human: Grid, metric: Grid) -> float:
        h, m = _system_means(human, metric)
        best = naive.best(h, n)
        return naive.pearson([h[i] for i in best], [m[i] for i in best])

    return oracle


def _kendall_like(threshold: float) -> Oracle:
    def oracle(human: Grid, metric: Grid) -> float:
        grid = kernels.group_labels("item", np.shape(human))
        n_agree = n_other = 0
        for cells in naive.groups(human, metric, grid).values():
            for i, (h1, m1) in enumerate(cells):
                for h2, m2 in cells[:i]:
                    if abs(h1 - h2) >= threshold:
                        agrees = (h1 > h2) == (m1 > m2) and m1 != m2
                        n_agree, n_other = n_agree + agrees, n_other + (not agrees)
        return (n_agree - n_other) / (n_agree + n_other)

    return oracle


def _calibrated(by: str) -> Oracle:
    def oracle(human: Grid, metric: Grid) -> float:
        found = naive.calibration(human, metric, kernels.group_labels(by, np.shape(human)))  # type: ignore[arg-type]
        return float(found[0])

    return oracle


def _brier(human: Grid, metric: Grid) -> float:
    return -naive.brier(human, metric, -1, FOLDS)


FOLDS: list[int] = []  # of the block's segments: whole documents in turn
ORACLES: dict[str, Oracle] = {
    "pearson": lambda h, m: naive.pearson(*_system_means(h, m)),
    "spearman": lambda h, m: naive.pearson(*(naive.ranks(x) for x in _system_means(h, m))),
    "kendall": lambda h, m: naive.tau("tau_b", list(zip(*_system_means(h, m), strict=True))),
    "pa": _pairwise_accuracy("organisers"),
    "pa(ties=tship)": _pairwise_accuracy("tship"),
    "weighted_tau": _weighted,
    "tau_ap": lambda h, m: naive.tau_ap(*_system_means(h, m)),
    **{f"pearson(top={n})": _top(n) for n in (3, 4, 99)},
    f"spa(n={N_DRAWS})": _soft(binary=False),
    f"spa(n={N_DRAWS}, binary=yes)": _soft(binary=True),
    "spa(n=inf)": _soft_without_draws(_normal_p),
    "spa(n=saddlepoint)": _soft_without_draws(_p_of_all_signs),
    **{f"pearson(by={by})": _by_group(by, _pearson) for by in ("none", "item", "system")},
    **{f"spearman(by={by})": _by_group(by, _spearman) for by in ("none", "item", "system")},
    **{f"kendall(by={by})": _by_group(by, lambda cells: naive.tau("tau_b", cells)) for by in ("item", "system")},
    **{
        f"{name}(by={by}{threshold})": _by_group(by, lambda cells, n=name, e=epsilon: naive.tau(n, cells, e))  # type: ignore[misc]
        for name in ("tau_a", "tau_b", "tau_10", "tau_13", "tau_14", "tau_23", "acc23")
        for by in ("item", "system")
        for threshold, epsilon in (("", 0.0), (", epsilon=0.5", 0.5))
    },
    **{
        f"accuracy(by={by}, ties={ties})": _by_group(by, lambda cells, n=name: naive.tau(n, cells))  # type: ignore[misc]
        for by in ("item", "system")
        for ties, name in (("wrong", "accuracy"), ("half", "accuracy_with_half_ties"))
    },
    "tau_c(by=item)": _by_group("item", lambda cells: naive.tau("tau_c", cells)),
    "tau_14(by=item, pool=pairs)": _pooled_tau_14,
    "acc_eq(by=item)": _calibrated("item"),
    "tau_eq(by=item)": lambda h, m: 2 * _calibrated("item")(h, m) - 1,
    "acc_eq(by=system)": _calibrated("system"),
    "pdp": lambda h, m: naive.pearson(*naive.pairwise_differences(h, m)),
    "kendall_like(threshold=5)": _kendall_like(5),
    **{
        f"{name}(good=-1)": lambda h, m, n=name: naive.decided(n, h, m, -1)  # type: ignore[misc]
        for name in ("mcc", "f_beta", "precision", "recall")
    },
    "average_precision(good=-1)": lambda h, m: naive.average_precision(h, m, -1),
    "roc_auc(good=-1)": lambda h, m: naive.roc_auc(h, m, -1),
    "rrp": naive.reranking_precision,
    "brier(good=-1)": lambda h, m: math.nan if len({b for _, b in naive.both(h, m)}) == 1 else _brier(h, m),
    "rmse": lambda h, m: -math.sqrt(np.mean([(a - b) ** 2 for a, b in naive.both(h, m)])),
    "mae": lambda h, m: -float(np.mean([abs(a - b) for a, b in naive.both(h, m)])),
    "tabular(by=item)": _by_group("item", lambda cells: naive.tau("tau_13", cells)),
    "tabular(by=item, coefficients=1:-1:-1/X:X:X/-1:-1:1)": _by_group("item", lambda cells: naive.tau("tau_10", cells)),
}


@pytest.mark.parametrize("measure", ORACLES)
def test_a_measure_agrees_with_plain_loops(measure: str, block: Block) -> None:
    if measure == "acc_eq(by=system)":  # the loop tries every gap of every pair: a fourth of the pairs will do
        block = _first_half(block)
    found = _value(measure, block, seed=SEED)
    assert [metric.name for metric in found.metrics] == [metric.name for metric in block.metrics]
    for metric, scores, value in zip(block.metrics, block.scores, found.value, strict=True):
        expected = ORACLES[measure](block.human, scores)
        if math.isnan(expected):
            expected = 0.0 if measure == "pdp" else expected  # of a constant it is 0 by convention
        if measure in ("rmse", "mae") and metric.name == "Steady-src":
            expected = math.nan
        most = 1e-4 if "saddlepoint" in measure else 1e-9  # an approximation of all signs
        assert value == pytest.approx(expected, rel=0, abs=most, nan_ok=True), metric.name


def test_every_measure_has_its_plain_loop() -> None:
    parsed = [parse_measure(text) for text in ORACLES]
    of_scores = {definition for definition in DEFINITIONS.values() if definition.is_of_scores}
    assert {measure.definition for measure in parsed} == of_scores


@pytest.mark.slow
def test_calibration_gives_the_smallest_of_the_best_thresholds(block: Block) -> None:
    found = _value("acc_eq(by=item)", block)
    grid = kernels.group_labels("item", block.human.shape)
    for scores, epsilon, high in zip(block.scores, found.epsilon, found.epsilon_high, strict=True):
        best = naive.calibration(block.human, scores, grid)
        assert (epsilon, high) == best[1:]


def test_a_result_counts_what_went_in(block: Block) -> None:
    found = _value("acc23(by=item)", block)
    judged = ~np.isnan(block.human)
    per_segment = judged.sum(axis=0)
    assert found.n_systems == len(block.systems)
    assert found.n_segments == (per_segment > 0).sum()
    assert found.n_missing == (~judged).sum()
    assert set(found.n_groups) == {(per_segment >= 2).sum()}
    assert set(found.n_groups_nan) == {0}
    assert set(found.n_pairs) == {(per_segment * (per_segment - 1) // 2).sum()}


def test_groups_without_a_value_are_counted_and_left_out(block: Block) -> None:
    found = _value("tau_b(by=item)", block)
    place = [metric.name for metric in block.metrics].index("Steady-src")
    assert found.n_groups_nan[place] == found.n_groups[place]
    assert math.isnan(found.value[place])
    grid = kernels.group_labels("item", block.human.shape)
    for place, scores in enumerate(block.scores):
        values = [naive.tau("tau_b", cells) for cells in naive.groups(block.human, scores, grid).values()]
        assert found.n_groups[place] == len(values)
        assert found.n_groups_nan[place] == sum(math.isnan(value) for value in values)


def test_a_threshold_may_be_given_in_standard_deviations_of_the_metric(block: Block) -> None:
    relative = _value("acc23(by=item, epsilon=0.25sd)", block)
    judged = ~np.isnan(block.human)
    for place, scores in enumerate(block.scores):
        threshold = 0.25 * scores[judged].std()
        assert relative.epsilon[place] == pytest.approx(threshold)
        grid = kernels.group_labels("item", block.human.shape)
        cells = naive.groups(block.human, scores, grid).values()
        expected = np.mean([naive.tau("acc23", group, float(relative.epsilon[place])) for group in cells])
        assert relative.value[place] == pytest.approx(expected)


@pytest.mark.parametrize("by", ["none", "doc", "domain"])
def test_groups_may_be_documents_domains_or_everything(by: str, block: Block) -> None:
    keys = {"none": ["all"] * len(block.segments), "doc": block.selection.documents, "domain": block.selection.domains}
    grid = labels(block, by)
    seen = {tuple(dict.fromkeys(keys[by][s] for s in np.flatnonzero((grid == g).any(axis=0)))) for g in np.unique(grid)}
    assert seen == {(key,) for key in dict.fromkeys(keys[by])}
    found = _value(f"tau_a(by={by})", block)
    for scores, value in zip(block.scores, found.value, strict=True):
        cells = naive.groups(block.human, scores, grid).values()
        assert value == pytest.approx(np.mean([naive.tau("tau_a", group) for group in cells]))


def test_the_source_of_system_scores_can_be_chosen(simulated_warehouse: Warehouse) -> None:
    whole = fetch_block(simulated_warehouse, select(simulated_warehouse, Slice("sim24", "cs-uk")))
    judged = ~np.isnan(whole.human)
    expected = {
        "submitted": whole.submitted,
        "mean": whole.scores.mean(axis=2),
        "judged-mean": np.array([[row[j].mean() for row, j in zip(s, judged, strict=True)] for s in whole.scores]),
    }
    for source, scores in expected.items():
        found = system_scores(whole, source)  # type: ignore[arg-type]
        np.testing.assert_allclose(found.metrics, scores, rtol=1e-12)
        np.testing.assert_array_equal(found.human, whole.human_submitted)
        assert set(found.used) == {source}
        value = _value("pearson", whole, system_score=source).value
        for place, metric in enumerate(scores):
            known = naive.pearson(whole.human_submitted.tolist(), metric.tolist())
            assert value[place] == pytest.approx(known, abs=1e-9, nan_ok=True)


def test_without_submitted_scores_the_mean_of_all_segments_stands_in(block: Block) -> None:
    found = system_scores(block, "submitted")  # a part of a test set
    assert set(found.used) == {"mean"}
    np.testing.assert_allclose(found.metrics, block.scores.mean(axis=2))
    np.testing.assert_allclose(found.human, np.nanmean(block.human, axis=1))


def test_seeds_move_drawn_measures_a_little_and_nothing_else(block: Block) -> None:
    values = np.array([_value("spa", block, seed=seed).value for seed in range(3)])
    assert len(np.unique(values, axis=0)) == 3
    # The standard deviation over seeds is below 0.01 here: at most 0.5 / sqrt(1000) a pair, averaged over pairs.
    assert np.ptp(values, axis=0).max() < 0.04
    np.testing.assert_array_equal(_value("spa", block, seed=1).value, values[1])
    limit = _value("spa(n=inf)", block)
    np.testing.assert_array_equal(limit.value, _value("spa(n=inf)", block, seed=5).value)


def test_a_single_system_or_no_judgement_gives_no_value_and_no_error(block: Block) -> None:
    alone = replace(
        block,
        systems=block.systems[:1],
        human=block.human[:1],
        scores=block.scores[:, :1],
        human_submitted=block.human_submitted[:1],
        submitted=block.submitted[:, :1],
    )
    nobody = replace(block, human=np.full_like(block.human, np.nan))
    for measure in ("pearson", "kendall", "pa", "spa", "spa(n=inf)", "acc_eq(by=item)", "tau_b(by=item)", "pdp"):
        for hopeless in (alone, nobody):
            assert np.isnan(_value(measure, hopeless).value).all(), measure


def test_where_all_human_scores_are_equal_there_is_nothing_to_agree_with(block: Block) -> None:
    """Undefined for every measure, but for those whose pairs may tie by definition (Deutsch et al. 2023) and PDP."""
    tied = replace(
        block, human=np.where(np.isnan(block.human), np.nan, -1.0), human_submitted=np.full(len(block.systems), np.nan)
    )
    defined = set()
    for name in sorted(name for name, definition in DEFINITIONS.items() if definition.is_of_scores):
        try:
            values = _value(name, tied).value
        except ValueError:
            continue
        if not np.isnan(values).all():
            defined.add(name.partition("(")[0])
    assert defined == {"acc23", "acc_eq", "pdp", "tau_23", "tau_a", "tau_eq"}
