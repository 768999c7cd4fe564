"""Protocols: every task's value, the weighted overall score, its significance from averaged draws, what is missing."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metaeval.kernels.resampling.clusters import n_significant_pairs, significance_clusters
from metaeval.kernels.resampling.permutation import difference_p_values
from metaeval.measures.options import Options, TestOptions, Unit
from metaeval.measures.registry import parse_measure
from metaeval.studies.protocols import Protocol, Rule, populations, protocol_named, protocols
from metaeval.studies.protocols import significance as tested
from metaeval.studies.protocols.entry import enter, plan
from metaeval.studies.protocols.scoring import Missing, ProtocolScore, score
from metaeval.studies.protocols.tables import (
    as_json,
    beside_lines,
    excluded_lines,
    missing_in_short,
    missing_lines,
    rank_correlation,
    score_frame,
    task_name,
)
from metaeval.studies.protocols.tasks import halved_weights
from metaeval.studies.significance.runner import run
from queries.slices import Slice
from tests.comparing import compare
from tests.helpers import SYSTEMS, metric_tables, rank, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable
from warehouse.wording import option

LPS = ["en-de", "cs-uk"]
QUICK = TestOptions(resamples=60)


def made(*measures: str, test: str | None = None, **more: object) -> Protocol:
    return Protocol("wmt99", 2099, tuple(Rule(parse_measure(text), test=test, **more) for text in measures))  # type: ignore[arg-type]


def scored(warehouse: Warehouse, protocol: Protocol, testset: str, **more: object) -> ProtocolScore:
    entering = {name: more.pop(name) for name in ("lps", "asked", "all_metrics") if name in more}
    options = more.get("options")
    return score(enter(warehouse, protocol, testset, options=options, **entering), **more)  # type: ignore[arg-type]


def without(task: int, lp: str, reason: str) -> Missing:
    """A task that does without a metric in one language pair."""
    return Missing(task, (lp,), reason)


def value_of(found: ProtocolScore, task: int) -> dict[str, float]:
    return dict(zip(found.metrics, found.tasks[task].values.tolist(), strict=True))


@pytest.fixture(scope="module")
def official(simulated_warehouse: Warehouse) -> ProtocolScore:
    return scored(simulated_warehouse, protocol_named("wmt23"), "sim24", lps=LPS)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with tiny_warehouse(tmp_path_factory.mktemp("tiny")) as warehouse:
        yield warehouse


# --- values ---------------------------------------------------------------------------------------------------------


def test_a_domain_without_an_answer_is_dropped_alone(tmp_path: Path) -> None:
    documents = (("flat", "f"), ("flat", "f"), ("news", "n"), ("news", "n"), ("silent", "s"))
    human = np.array([[-1.0, -1, -1, -2, np.nan], [-1, -1, -5, -4, np.nan], [-1, -1, -9, -7, np.nan]])
    metric = np.array([[0.9, 0.8, 0.9, 0.8, 0.7], [0.5, 0.6, 0.5, 0.7, 0.5], [0.4, 0.3, 0.1, 0.2, 0.3]])
    layout = tiny_layout(
        tmp_path / "layout",
        documents=documents,
        humans={"mqm": ScoreTable(systems=SYSTEMS[:3], seg=human)},
        metrics={"Fine-src": ScoreTable(systems=SYSTEMS[:3], seg=metric)},
    )
    with tiny_warehouse(tmp_path, layout) as warehouse:
        found = scored(warehouse, made("pearson", domains="each"), "tiny24", all_metrics=True)
    assert [task.domain for task in found.tasks] == [None, "news"]
    assert found.overall.tolist() == [
        pytest.approx(np.mean([value_of(found, task)["Fine"] for task in (0, 1)]) / 2 + 0.5)
    ]
    notes = "\n".join(found.notes)
    assert (
        "pearson in flat of en-de is dropped, and the overall score covers the rest: "
        "not defined, mqm gives all systems the same score" in notes
    )
    assert "pearson in silent of en-de is dropped" in notes
    assert "dropped:pearson in silent of en-de;pearson in flat of en-de|" in found.signature


@pytest.mark.parametrize("significance", [False, True])
def test_an_undefined_correlation_counts_as_0_and_is_said(tiny: Warehouse, significance: bool) -> None:
    """As in the organisers' toolkit, whose correlations of a constant metric are 0."""
    more = {"all_metrics": True, "significance": significance, "testing": TestOptions(resamples=20)}
    found = scored(tiny, made("pa", "pearson"), "tiny24", **more)
    ranks = scored(tiny, replace(made("pa", "pearson"), overall="ranks"), "tiny24", **more)
    assert found.missing == {"Flat": (without(1, "en-de", "pearson is undefined, counted as 0"),)}
    flat = found.metrics.index("Flat")
    assert not np.isnan(found.tasks[0].values[flat])
    assert (found.tasks[0].clusters[flat] > 0) == significance
    assert (np.isnan(found.tasks[1].values[flat]), found.tasks[1].clusters[flat]) == (True, 0)
    assert found.overall[flat] == pytest.approx((found.tasks[0].values[flat] + (0 + 1) / 2) / 2)
    assert (found.clusters > 0).tolist() == [significance] * len(found.metrics)
    better = [value for value in found.tasks[1].values if value > 0]
    assert found.tasks[1].ranks[flat] == 1 + len(better)
    why = "pearson is undefined, counted as 0" + (", in no cluster" if significance else "")
    assert ranks.missing["Flat"] == (without(1, "en-de", why),)
    assert not np.isnan(ranks.overall[ranks.metrics.index("Flat")])
    assert (ranks.by_cluster is not None) == significance
    assert ranks.by_cluster is None or np.isnan(ranks.by_cluster[ranks.metrics.index("Flat")])


@pytest.mark.slow
def test_a_task_has_the_values_of_the_ranking(simulated_warehouse: Warehouse, official: ProtocolScore) -> None:
    assert [(task.measure, task.lps) for task in official.tasks] == [
        ("pa", ("en-de", "cs-uk")),
        ("pearson", ("en-de",)),
        ("pearson", ("cs-uk",)),
        ("pearson(by=none)", ("en-de",)),
        ("pearson(by=none)", ("cs-uk",)),
        ("acc_eq(by=item)", ("en-de",)),
        ("acc_eq(by=item)", ("cs-uk",)),
    ]
    assert [task.weight for task in official.tasks] == [2, 1, 1, 1, 1, 1, 1]
    for number, task in enumerate(official.tasks[1:], start=1):
        ranking = rank(simulated_warehouse, "sim24", task.lps[0], [task.measure], status="primary")
        expected = dict(zip(ranking["base_metric"], ranking["value"].to_numpy(), strict=True))
        for name, value in value_of(official, number).items():
            np.testing.assert_allclose(value, expected.get(name, np.nan), atol=1e-12)


def test_pooled_accuracy_counts_every_system_pair_alike(simulated_warehouse: Warehouse) -> None:
    found = scored(simulated_warehouse, made("pa", lps="pooled", weight="n_lps"), "sim24", lps=LPS)
    parts = [rank(simulated_warehouse, "sim24", lp, ["pa"], status="primary") for lp in LPS]
    for name, value in value_of(found, 0).items():
        rows = [part.filter(part["base_metric"] == name) for part in parts]
        n_right = sum(row["value"][0] * row["n_pairs"][0] for row in rows)
        assert value == pytest.approx(n_right / sum(row["n_pairs"][0] for row in rows))
    assert found.tasks[0].weight == 2


def test_the_overall_score_is_the_weighted_mean_with_correlations_mapped(official: ProtocolScore) -> None:
    for place, overall in enumerate(official.overall):
        pa, r1, r2, s1, s2, a1, a2 = (task.values[place] for task in official.tasks)
        correlations = np.nan_to_num([r1, r2, s1, s2])  # of a constant metric: 0
        by_hand = (2 * pa + ((correlations + 1) / 2).sum() + a1 + a2) / 8
        np.testing.assert_allclose(overall, by_hand, atol=1e-12)
    defined = official.overall[~np.isnan(official.overall)]
    assert (np.diff(defined) <= 0).all()
    assert np.isnan(official.overall[len(defined) :]).all()
    assert (official.ranks[len(defined) :] == 0).all()


def expected_scores(path: Path, protocol: str) -> dict[str, tuple[float, float]]:
    rows = [row for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()) if row["protocol"] == protocol]
    assert {(row["testset"], row["lps"]) for row in rows} == {("wmt23", "en-de,he-en")}
    return {row["metric"]: (float(row["overall"]), float(row["tolerance"])) for row in rows}


@pytest.mark.parametrize("protocol", ["wmt23", "wmt24"])
def test_wmt23_has_the_published_overall_scores(wmt23_warehouse: Warehouse, protocol: str) -> None:
    from tests.helpers import beside_data

    expected = expected_scores(beside_data("expected", "protocols.csv"), protocol)
    found = scored(wmt23_warehouse, protocol_named(protocol), "wmt23", lps=["en-de", "he-en"])
    assert set(found.metrics) == set(expected)
    assert not found.missing
    for name, overall in zip(found.metrics, found.overall, strict=True):
        value, tolerance = expected[name]
        assert overall == pytest.approx(value, abs=tolerance), name


# --- significance ---------------------------------------------------------------------------------------------------


def test_a_task_is_tested_as_a_comparison_would(simulated_warehouse: Warehouse) -> None:
    """Williams' test draws nothing, so both must give the same clusters."""
    asked = Slice("sim24", "en-de", status="primary")
    testing = TestOptions(test="williams", alternative="greater")
    alone = compare(simulated_warehouse, asked, parse_measure("pearson"), Options(), testing)
    found = scored(simulated_warehouse, made("pearson", test="williams"), "sim24", lps=["en-de"], significance=True)
    names = [name.rsplit("-", 1)[0] for name in alone.names]
    expected = {
        name: int(cluster) for name, cluster, r in zip(names, alone.clusters, alone.ranks, strict=True) if r > 0
    }
    for name, cluster in zip(found.metrics, found.tasks[0].clusters, strict=True):
        assert cluster == expected.get(name, 0), name
    assert found.n_significant is None
    assert "one task's test (Williams) does not resample, so the overall score is not tested" in found.notes
    assert not found.clusters.any()


def test_the_overall_null_is_the_weighted_average_of_the_tasks_draws(simulated_warehouse: Warehouse) -> None:
    """Protocols of one task each keep that task's draws; the overall test must be their weighted mean, mapped."""
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    original = tested._tested

    def spying(*arguments: Any, **more: Any) -> tuple[np.ndarray, np.ndarray | None]:
        p, null = original(*arguments, **more)
        kept.append((p, null))
        return p, null

    protocol = Protocol(
        "wmt99", 2099, (Rule(parse_measure("pearson")), Rule(parse_measure("pa"), lps="pooled", weight="n_lps"))
    )
    entry = enter(simulated_warehouse, protocol, "sim24", lps=LPS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tested, "_tested", spying)
        found = score(entry, significance=True, testing=QUICK)
    assert len(kept) == 3
    assert found.missing == {
        "Onlooker": (
            without(0, "en-de", "pearson is undefined, counted as 0"),
            without(1, "cs-uk", "pearson is undefined, counted as 0"),
        )  # the same for all systems
    }
    drawn = (kept[0][1] / 2 + kept[1][1] / 2 + 2 * kept[2][1]) / 4
    by_name = dict(zip(found.metrics, found.overall, strict=True))
    overall = np.array([by_name[name] for name in sorted(found.metrics)])
    p = difference_p_values(drawn, overall)
    expected = significance_clusters(overall, p)
    expected[np.isnan(overall)] = 0
    clusters = dict(zip(found.metrics, found.clusters.tolist(), strict=True))
    assert [clusters[name] for name in sorted(found.metrics)] == expected.tolist()
    assert found.n_significant == n_significant_pairs(overall, p)


def test_tasks_draw_independently_of_each_other(simulated_warehouse: Warehouse) -> None:
    """Two tasks that are the same have the same values and different draws: their mean varies less than each."""
    kept = []
    original = tested._tested
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            tested, "_tested", lambda *a, **more: kept.append(original(*a, **more)[1]) or original(*a, **more)
        )
        entry = enter(simulated_warehouse, made("pearson", "pearson"), "sim24", lps=["en-de"])
        score(entry, significance=True, testing=QUICK)
    assert not np.array_equal(kept[0], kept[1], equal_nan=True)


def test_a_metric_that_one_task_lacks_is_still_tested_in_the_others(tiny: Warehouse) -> None:
    rules = made("pearson", "pearson(by=none)")
    found = scored(tiny, rules, "tiny24", all_metrics=True, significance=True, testing=QUICK)
    assert found.missing == {
        "Flat": (
            without(0, "en-de", "pearson is undefined, counted as 0"),
            without(1, "en-de", "pearson(by=none) is undefined, counted as 0"),
        ),
        "Only": (without(1, "en-de", "no segment scores"),),
    }
    place = found.metrics.index("Only")
    assert np.isnan(found.overall[place])
    assert (found.ranks[place], found.clusters[place]) == (0, 0)
    assert found.tasks[0].clusters[place] > 0
    assert found.tasks[1].clusters[place] == 0
    line = "1 metric is missing in some tasks, so without an overall rank: no segment scores"
    assert f"{line} ({option('verbose', True)} names it)" in missing_in_short(found)
    shape = {row["metric"]: row for row in as_json(found)["metrics"]}
    assert shape["Only"]["missing"] == [{"task": 1, "reason": "en-de: no segment scores"}]
    assert shape["Only"]["rank"] is None


@pytest.mark.slow
def test_a_metric_without_a_language_pair_is_listed_with_the_reason(tmp_path: Path) -> None:
    tables = metric_tables()
    one = tiny_layout(tmp_path / "one")
    two = tiny_layout(tmp_path / "two", lp="de-en", metrics={k: v for k, v in tables.items() if k != "Fine-src"})
    partial = ScoreTable(systems=SYSTEMS[:2], seg=np.zeros((2, 5)), sys=np.zeros(2))
    with tiny_warehouse(tmp_path, one, two) as warehouse:
        found = scored(warehouse, made("pearson"), "tiny24", lps=["de-en", "en-de"], significance=True, testing=QUICK)
        assert found.missing == {
            "Fine": (without(0, "de-en", "no such metric"),),
            "Flat": (
                without(0, "de-en", "pearson is undefined, counted as 0"),
                without(1, "en-de", "pearson is undefined, counted as 0"),
            ),
        }
        assert np.isnan(found.overall[found.metrics.index("Fine")])
        both = scored(warehouse, made("pearson", "pa", "pearson(by=item)"), "tiny24", lps=["de-en", "en-de"])
        assert missing_lines(both) == [
            "Fine is missing in de-en pearson, de-en pa, de-en pearson(by=item): no such metric",
            "Flat is missing in de-en pearson, en-de pearson: pearson is undefined, counted as 0",
            "Flat is missing in de-en pearson(by=item), en-de pearson(by=item): "
            "pearson(by=item) is undefined, counted as 0",
        ]
    other = tmp_path / "other"
    other.mkdir()
    layout = tiny_layout(other / "layout", metrics={**tables, "Rough-refA": partial})
    with tiny_warehouse(other, layout) as warehouse:
        found = scored(warehouse, made("pearson"), "tiny24")
        assert "Rough is missing in every task: en-de: no scores for the output of Cherry" in found.notes


def test_contrastive_metrics_are_counted_and_named_when_asked_for(tiny: Warehouse) -> None:
    found = scored(tiny, made("pearson"), "tiny24")
    everything = scored(tiny, made("pearson"), "tiny24", all_metrics=True)
    assert set(found.excluded) == {"Wrong", "Only"}
    assert set(everything.metrics) == {*found.metrics, *found.excluded}
    reason = "2 metrics are excluded (contrastive, neither primary nor baseline)"
    assert excluded_lines(found, verbose=False) == [f"{reason}; {option('verbose', True)} names them"]
    assert excluded_lines(found, verbose=True) == [f"{reason}: Only, Wrong"]
    assert excluded_lines(everything, verbose=True) == []
    assert "primary:yes" in found.signature
    assert "primary" not in everything.signature


@pytest.mark.slow
def test_a_protocol_without_metrics_is_refused(tmp_path: Path) -> None:
    tables = {"Other-src": metric_tables()["Fine-src"]}
    with (
        tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse,
        pytest.raises(QuestionError, match="no metric of tiny24 en-de can be scored by wmt99"),
    ):
        scored(warehouse, made("pearson"), "tiny24")


def test_corrections_of_conventions_reach_every_task(simulated_warehouse: Warehouse) -> None:
    protocol = protocol_named("wmt23")
    entry = enter(simulated_warehouse, protocol, "sim24", lps=["cs-uk"])
    plain = score(entry, significance=True, testing=TestOptions(resamples=39))
    added = score(entry, significance=True, testing=TestOptions(resamples=39, plus_one=True))
    assert plain.n_significant is not None
    assert added.n_significant is not None
    assert added.n_significant <= plain.n_significant
    assert "p_value:one_sided,ge,plus_one" in added.signature


def test_a_protocol_counts_ties_as_its_organisers_do(simulated_warehouse: Warehouse) -> None:
    entry = enter(simulated_warehouse, made("pa"), "sim24", lps=["en-de"])
    plain, same = (
        score(entry, significance=True, testing=TestOptions(resamples=39, mid_p=mid_p)) for mid_p in (None, False)
    )
    assert "p_value:one_sided,ge,uncorrected" in plain.signature
    assert plain.signature == same.signature
    assert np.array_equal(plain.tasks[0].clusters, same.tasks[0].clusters)
    with pytest.raises(QuestionError, match="counts ties whole, as its organisers do"):
        score(entry, significance=True, testing=TestOptions(resamples=39, mid_p=True))
    with pytest.raises(QuestionError, match="segments or documents, not annotators; drop"):
        score(entry, significance=True, testing=TestOptions(unit="annotator"))


def test_too_few_systems_for_williams_are_reported(tiny: Warehouse) -> None:
    found = scored(tiny, made("pearson", test="williams"), "tiny24", significance=True)
    assert "en-de pearson is not tested: Williams' test needs more than 3 systems" in found.notes
    assert set(found.tasks[0].clusters[~np.isnan(found.tasks[0].values)].tolist()) == {1}


@pytest.mark.slow
def test_progress_never_goes_back_and_ends_at_the_whole(simulated_warehouse: Warehouse) -> None:
    steps: list[tuple[int, int]] = []
    entry = enter(simulated_warehouse, made("spa(n=50)", "pearson", "tau_b(by=item)"), "sim24", lps=LPS)
    score(entry, significance=True, testing=QUICK, progress=lambda what, done, total: steps.append((done, total)))
    done = [step for step, _ in steps]
    assert done == sorted(done)
    assert {total for _, total in steps} == {10_000}
    assert done[-1] == 10_000


# --- ranks instead of values ----------------------------------------------------------------------------------------


def test_weights_are_halved_attribute_by_attribute() -> None:
    """WMT22: 201 tasks, as many as its toolkit lists, and the pooled accuracy weighs a quarter."""
    tasks: list[tuple[object, ...]] = [("en-de,en-ru,zh-en", None, "sys", False, "none", "pa")]
    for lp, references in (("en-de", (False, True)), ("en-ru", (False,)), ("zh-en", (False, True))):
        for domain in (None, "conversation", "ecommerce", "news", "social"):
            for use in references:
                tasks += [(lp, domain, "sys", use, "none", name) for name in ("pearson", "kendall")]
                tasks += [
                    (lp, domain, "seg", use, by, name)
                    for by in ("none", "system", "item")
                    for name in ("pearson", "tau_b")
                ]
    weights = dict(zip(tasks, halved_weights(tasks), strict=True))
    assert len(weights) == 201
    assert sum(weights.values()) == pytest.approx(1)
    assert weights[tasks[0]] == 1 / 4
    assert weights["en-ru", "news", "sys", False, "none", "kendall"] == pytest.approx(1 / 4 / 5 / 2 / 2)
    assert weights["en-de", None, "seg", True, "item", "tau_b"] == pytest.approx(1 / 4 / 5 / 2 / 2 / 3 / 2)
    assert halved_weights([]) == []


@pytest.mark.slow
def test_wmt22_is_a_weighted_mean_of_ranks_over_domains_and_human_references(simulated_warehouse: Warehouse) -> None:
    found = scored(simulated_warehouse, protocol_named("wmt22"), "sim24", lps=LPS)
    assert sum(task.weight for task in found.tasks) == pytest.approx(1)
    domains = {task.domain for task in found.tasks}
    assert None in domains
    assert len(domains) > 2
    pooled = found.tasks[0]
    assert (pooled.measure, pooled.lps, pooled.weight, pooled.human_references) == ("pa", tuple(LPS), 1 / 3, False)
    with_references = {task.lps for task in found.tasks if task.human_references}
    n_systems = {
        lp: [
            rank(simulated_warehouse, "sim24", lp, ["pa"], human_references=use)["n_systems"][0]
            for use in (False, True)
        ]
        for lp in LPS
    }
    assert with_references == {(lp,) for lp, (without, with_them) in n_systems.items() if with_them > without}
    for place, overall in enumerate(found.overall):
        ranks = [float(task.ranks[place]) or np.nan for task in found.tasks]
        by_hand = sum(task.weight * own for task, own in zip(found.tasks, ranks, strict=True))
        np.testing.assert_allclose(overall, by_hand, atol=1e-12)
    defined = found.overall[~np.isnan(found.overall)]
    assert (np.diff(defined) >= 0).all()  # the lowest mean rank is best
    assert np.isnan(found.overall[len(defined) :]).all()
    assert found.ranks[0] == 1
    assert "overall:weighted mean of ranks by value" in found.signature
    other = scored(simulated_warehouse, protocol_named("wmt21"), "sim24", lps=LPS)
    assert rank_correlation(found, other)[0] > 0.5  # a low mean rank goes with a high mean value


def test_significance_adds_the_mean_over_ranks_of_clusters_to_a_mean_of_ranks(simulated_warehouse: Warehouse) -> None:
    halved = [
        Rule(parse_measure(text), test=test, early_stop=True, weight="halved", human_references="both")  # type: ignore[arg-type]
        for text, test in (("pearson", "perm-systems"), ("pearson(by=none)", "perm-both"))
    ]
    protocol = Protocol("wmt99", 2099, tuple(halved), overall="ranks")
    found = scored(
        simulated_warehouse, protocol, "sim24", lps=["cs-uk"], significance=True, testing=TestOptions(resamples=200)
    )
    clusters = np.array([task.clusters for task in found.tasks], dtype=float)
    clusters[clusters == 0] = np.nan
    assert found.by_cluster is not None
    np.testing.assert_allclose(found.by_cluster, np.average(clusters, axis=0, weights=[t.weight for t in found.tasks]))
    assert score_frame(found)["overall by cluster"].fill_null(np.nan).to_numpy() == pytest.approx(
        found.by_cluster, nan_ok=True
    )
    plain = scored(simulated_warehouse, protocol, "sim24", lps=["cs-uk"])
    assert plain.by_cluster is None
    assert (found.metrics, found.overall.tolist()) == (plain.metrics, plain.overall.tolist())
    assert clusters[~np.isnan(clusters)].max() < len(found.metrics)
    assert found.n_significant is None
    assert any("the overall score, a mean of ranks, is not tested" in note for note in found.notes)
    assert "overall:weighted mean of ranks by value" in found.signature


# --- tasks without scores -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_task_for_which_no_metric_has_scores_is_dropped_with_one_note(tmp_path: Path) -> None:
    tables = {name: ScoreTable(systems=table.systems, sys=table.sys) for name, table in metric_tables().items()}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        found = scored(warehouse, made("pearson", "tau_b(by=item)", "kendall"), "tiny24", significance=True)
        alone = scored(warehouse, made("pearson", "kendall"), "tiny24")
    assert [task.measure for task in found.tasks] == ["pearson", "kendall"]
    assert dict(zip(found.metrics, found.overall, strict=True)) == pytest.approx(
        dict(zip(alone.metrics, alone.overall, strict=True)), nan_ok=True
    )
    assert [note for note in found.notes if "dropped" in note] == [
        "tau_b(by=item) of en-de is dropped, and the overall score covers the rest: "
        "no metric can be ranked: 3 no segment scores; 2 contrastive, neither primary nor baseline"
    ]
    assert "dropped:tau_b(by=item) of en-de" in found.signature
    assert "dropped" not in alone.signature
    assert missing_lines(found) == [
        "Flat is missing in en-de pearson: pearson is undefined, counted as 0",
        "Flat is missing in en-de kendall: kendall is undefined, counted as 0",
    ]


@pytest.mark.slow
def test_a_language_pair_without_scores_is_dropped_from_what_is_pooled(tmp_path: Path) -> None:
    none = {name: ScoreTable(systems=SYSTEMS[:2], sys=np.array([1.0, 2.0])) for name in metric_tables()}
    layouts = tiny_layout(tmp_path / "one"), tiny_layout(tmp_path / "two", lp="de-en", metrics=none)
    with tiny_warehouse(tmp_path, *layouts) as warehouse:
        both = scored(warehouse, made("pa", lps="pooled", weight="n_lps"), "tiny24")
        alone = scored(warehouse, made("pa", lps="pooled", weight="n_lps"), "tiny24", lps=["en-de"])
    assert [(task.lps, task.weight) for task in both.tasks] == [(("en-de",), 1.0)]
    assert np.array_equal(both.overall, alone.overall, equal_nan=True)
    assert "dropped:pa of de-en" in both.signature


def test_wmt19_is_scored_on_its_system_scores(real_load: tuple[Path, object]) -> None:
    with Warehouse.open(real_load[0]) as warehouse:
        named = scored(warehouse, protocol_named("wmt19"), "wmt19", asked=Slice("wmt19", "", human="wmt-z"))
        plain = scored(warehouse, protocol_named("wmt19"), "wmt19")
    for found in (named, plain):
        assert {task.measure for task in found.tasks} == {"pearson"}
        assert len(found.tasks) > 10
        assert not np.isnan(found.overall).all()
        assert len([note for note in found.notes if "dropped" in note]) == 1
        assert "dropped:kendall_like of " in found.signature
    assert np.array_equal(named.overall, plain.overall, equal_nan=True)


# --- the years' own facts -------------------------------------------------------------------------------------------


def test_wmt20_has_the_printed_column_of_all_systems(real_load: tuple[Path, object]) -> None:
    with Warehouse.open(real_load[0]) as warehouse:
        found = scored(warehouse, protocol_named("wmt20"), "wmt20", lps=["de-en"])
    tasks = {(task.measure, task.outliers): number for number, task in enumerate(found.tasks)}
    assert value_of(found, tasks["kendall_like", "none"])["chrF"] == pytest.approx(0.438, abs=5e-4)
    assert value_of(found, tasks["kendall_like", "organisers"])["chrF"] == pytest.approx(0.018, abs=5e-4)


def test_wmt20_takes_the_outliers_of_its_own_result_files(real_load: tuple[Path, object]) -> None:
    with Warehouse.open(real_load[0]) as warehouse:
        own = scored(warehouse, protocol_named("wmt20"), "wmt20", lps=["en-ja"])
        later = scored(warehouse, protocol_named("wmt17"), "wmt20", lps=["en-ja"])
        n_systems = rank(warehouse, "wmt20", "en-ja", ["pearson"], with_outliers=True)["n_systems"][0]
    with_all, without = (value_of(own, number)["BLEU"] for number in (0, 1))
    assert with_all == without != value_of(later, 0)["BLEU"]
    assert f"n_systems:{n_systems}" in own.signature
    assert "outliers:en-ja=none" in own.signature
    assert "en-ja: outlier systems are those of the result files of the metrics task of 2020" in own.notes
    assert "outliers:en-ja" not in later.signature


def test_every_fact_has_a_source() -> None:
    for protocol in protocols().values():
        assert protocol.source
        assert bool(protocol.outliers) == bool(protocol.outliers_source)


# --- which rules, which language pairs ------------------------------------------------------------------------------


def test_every_year_has_rules() -> None:
    assert protocol_named("wmt08").name == "wmt07"
    assert protocol_named("wmt12").name == "wmt10"
    assert protocol_named("wmt15").name == "wmt14"
    assert protocol_named("wmt18").name == protocol_named("wmt19").name == "wmt17"
    for name in ("wmt06", "wmt26", "wmt", "2023", "wmt2023"):
        with pytest.raises(QuestionError, match="unknown protocol"):
            protocol_named(name)


def test_the_official_weights_and_tests() -> None:
    rules = {
        name: [(str(rule.measure), rule.lps, rule.test, rule.weight) for rule in protocols()[name].rules]
        for name in ("wmt23", "wmt24", "wmt25")
    }
    assert rules["wmt23"] == [
        ("pa", "pooled", "perm-systems", "n_lps"),
        ("pearson", "each", "perm-systems", 1),
        ("pearson(by=none)", "each", "perm-both", 1),
        ("acc_eq(by=item)", "each", "pairs", 1),
    ]
    assert rules["wmt24"] == [("spa", "each", "perm-both", 1), ("acc_eq(by=item)", "each", "pairs", 1)]
    assert rules["wmt25"] == rules["wmt24"]
    assert [(str(rule.measure), rule.test) for rule in protocols()["wmt21"].rules] == [
        ("pa", "perm-systems"),
        ("tau_b(by=none)", "perm-both"),
    ]
    assert {str(rule.measure): rule.test for rule in protocols()["wmt22"].rules} == {
        **dict.fromkeys(("pa", "pearson", "kendall"), "perm-systems"),
        **{f"{name}(by={by})": "perm-both" for name in ("pearson", "tau_b") for by in ("none", "system", "item")},
    }
    assert len(protocols()["wmt25"].default_lps) == 16
    assert all(protocols()[name].overall == "values" for name in rules)


def test_wmt20_scores_systems_with_and_without_outliers(simulated_warehouse: Warehouse) -> None:
    found = scored(simulated_warehouse, protocol_named("wmt20"), "sim22", lps=["cs-uk"])
    tasks = {(task.measure, task.outliers): number for number, task in enumerate(found.tasks)}
    without, with_all = tasks["pearson", "organisers"], tasks["pearson", "none"]
    assert value_of(found, without)["simBLEU"] != value_of(found, with_all)["simBLEU"]
    assert "cs-uk pearson with outliers" in score_frame(found).columns
    segments = tasks[
        "kendall_like(threshold=25)" if ("kendall_like(threshold=25)", "none") in tasks else "kendall_like", "none"
    ]
    assert "cs-uk kendall_like with outliers" in score_frame(found).columns
    ranking = rank(simulated_warehouse, "sim22", "cs-uk", ["kendall_like"], status="primary", with_outliers=True)
    expected = dict(zip(ranking["base_metric"], ranking["value"].to_numpy(), strict=True))
    for metric, value in value_of(found, segments).items():
        np.testing.assert_allclose(value, expected.get(metric, np.nan))


def test_language_pairs_are_the_official_ones_of_the_test_set_s_year(wmt23_warehouse: Warehouse) -> None:
    for name in ("wmt23", "wmt24"):
        chosen, (note,) = plan(wmt23_warehouse, protocol_named(name), "wmt23", None)
        assert chosen == ["en-de", "he-en"]
        scope = " and is not the official one" if name == "wmt23" else ", not all of wmt23's"
        assert note == f"the score covers only en-de, he-en{scope}: zh-en is not loaded"
    assert plan(wmt23_warehouse, protocol_named("wmt24"), "wmt23", ["he-en"]) == (["he-en"], [])
    with pytest.raises(QuestionError, match="zh-en"):
        plan(wmt23_warehouse, protocol_named("wmt24"), "wmt23", ["zh-en"])


def test_a_test_set_of_no_official_year_is_scored_on_all_that_it_has(simulated_warehouse: Warehouse) -> None:
    assert plan(simulated_warehouse, protocol_named("wmt24"), "sim24", None) == (["cs-uk", "en-de", "ja-en"], [])
    with pytest.raises(QuestionError, match="test set 'wmt24' is not loaded; `on='sim24'`"):
        plan(simulated_warehouse, protocol_named("wmt24"), "wmt24", None)


# --- shapes ---------------------------------------------------------------------------------------------------------


def test_rankings_of_two_protocols_are_correlated_over_the_metrics_both_have(
    simulated_warehouse: Warehouse, official: ProtocolScore
) -> None:
    from scipy.stats import kendalltau, spearmanr

    one = official
    other = scored(simulated_warehouse, protocol_named("wmt14"), "sim24", lps=LPS)
    kendall, spearman, n = rank_correlation(one, other)
    both = {name: value for name, value in zip(other.metrics, other.overall, strict=True) if not np.isnan(value)}
    pairs = [(v, both[m]) for m, v in zip(one.metrics, one.overall, strict=True) if m in both and not np.isnan(v)]
    assert n == len(pairs) > 5
    a, b = np.array(pairs).T
    assert kendall == pytest.approx(kendalltau(a, b).statistic)
    assert spearman == pytest.approx(spearmanr(a, b).statistic)
    assert rank_correlation(one, one)[0] == pytest.approx(1.0)


def test_the_table_has_a_column_for_each_task(simulated_warehouse: Warehouse) -> None:
    found = scored(simulated_warehouse, protocol_named("wmt24"), "sim24", lps=["cs-uk"])
    assert score_frame(found).columns[:5] == ["rank", "metric", "overall", "cs-uk spa", "cs-uk acc_eq(by=item)"]


# --- beside, by tests that hold their level --------------------------------------------------------------------------

BESIDE = TestOptions(resamples=100, population="segments")


@pytest.mark.slow
def test_clusters_of_a_valid_test_stand_beside_the_protocol_s_own(simulated_warehouse: Warehouse) -> None:
    protocol = made("pearson(by=none)", "acc_eq(by=item)")
    asked = Slice("sim24", "en-de", status="primary")
    plain = scored(simulated_warehouse, protocol, "sim24", lps=["en-de"], significance=True, testing=QUICK)
    found = scored(simulated_warehouse, protocol, "sim24", lps=["en-de"], significance=True, testing=BESIDE)
    again = scored(
        simulated_warehouse, protocol, "sim24", lps=["en-de"], significance=True, testing=TestOptions(resamples=100)
    )
    assert [task.beside for task in plain.tasks] == [None, None]
    assert plain.beside is None
    for task, own in zip(found.tasks, again.tasks, strict=True):
        assert np.array_equal(task.clusters, own.clusters)
        assert task.beside is not None
        alone = compare(simulated_warehouse, asked, parse_measure(task.measure), Options(), TestOptions(resamples=100))
        assert (
            (task.beside.test, task.beside.alternative)
            == ("perm-inputs", alone.alternative)
            == (alone.test, "two-sided")
        )
        assert 0 <= task.beside.n_lost <= task.beside.n_own
    assert found.n_significant == again.n_significant
    assert found.beside is not None
    assert found.beside.n_own == found.n_significant
    assert "|population:segments|" in found.signature
    assert "population" not in again.signature
    assert set(as_json(found)) - set(as_json(again)) == {"population", "beside"}
    assert as_json(found)["tasks"][1]["beside"]["test"] == "perm-inputs"
    assert "cluster for segments" in score_frame(found).columns


@pytest.mark.parametrize("unit", ["segment", "document"])
def test_one_task_alone_is_tested_beside_as_a_comparison_would_be(simulated_warehouse: Warehouse, unit: Unit) -> None:
    """Both count the same differences, by other swaps: p are near each other (binomial, four standard errors)."""
    asked = Slice("sim24", "en-de", status="primary")
    testing = replace(BESIDE, resamples=1000, unit=unit)
    found = scored(simulated_warehouse, made("pdp"), "sim24", lps=["en-de"], significance=True, testing=testing)
    alone = compare(simulated_warehouse, asked, parse_measure("pdp"), Options(), replace(testing, population=None))
    (task,) = found.tasks
    assert task.beside is not None
    unsure = int(np.count_nonzero(np.abs(alone.p - 0.05) < 4 * np.sqrt(2 * 0.05 * 0.95 / 1000)))
    n_found = task.beside.n_own - task.beside.n_lost + task.beside.n_gained
    assert abs(n_found - alone.n_significant) <= unsure
    assert found.beside is not None  # the overall score is the task's value
    assert ("|unit:document|" in found.signature) == (unit == "document")


def test_documents_are_swapped_where_the_test_of_a_task_swaps_segments(
    simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = []

    def noted(*asked: Any) -> Any:
        found = run(*asked)
        p.append(found.p)
        return found

    monkeypatch.setattr(tested, "run", noted)
    protocol, asked = made("pearson", "tau_b(by=item)"), {"lps": ["cs-uk"], "significance": True}
    assert [tested.rule_test(rule, Options()) for rule in protocol.rules] == ["perm-systems", "perm-inputs"]
    one, other = (
        scored(simulated_warehouse, protocol, "sim24", testing=replace(QUICK, unit=unit), **asked)
        for unit in ("segment", "document")
    )
    assert np.array_equal(one.tasks[0].clusters, other.tasks[0].clusters)
    of_systems, of_segments, of_systems_again, of_documents = p
    assert np.array_equal(of_systems, of_systems_again, equal_nan=True)
    assert not np.array_equal(of_segments, of_documents, equal_nan=True)
    assert [("|unit:document|" in found.signature) for found in (one, other)] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("measures", [("pdp",), ("pdp", "pdp"), ("pearson(by=none)", "pearson(by=none)")])
def test_the_overall_score_of_one_task_or_of_it_twice_is_tested_as_the_task_is_by_resampling(
    simulated_warehouse: Warehouse, measures: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shared segments are drawn together: the mean of a task and itself varies as the task does."""
    p = []

    def noted(*asked: Any) -> Any:
        tested, there = asked[3]
        best_first = np.argsort(-asked[1][there])
        p.append(tested[np.ix_(best_first, best_first)])
        return beside_of(*asked)

    beside_of = populations._beside_own
    monkeypatch.setattr(populations, "_beside_own", noted)
    testing = replace(BESIDE, resamples=2000)
    scored(simulated_warehouse, made(*measures), "sim24", lps=["en-de"], significance=True, testing=testing)
    asked = Slice("sim24", "en-de", status="primary")
    alone = compare(
        simulated_warehouse,
        asked,
        parse_measure(measures[0]),
        Options(),
        TestOptions(test="bootstrap", resamples=2000, population="segments"),
    )
    overall, differ = p[-1], ~np.isnan(alone.p)
    assert np.max(np.abs(overall - alone.p)[differ]) < 0.1  # by draws, and normal instead of counted
    assert np.corrcoef(overall[differ], alone.p[differ])[0, 1] > 0.995


def test_pooled_accuracy_is_tested_by_segments_of_all_language_pairs(simulated_warehouse: Warehouse) -> None:
    found = scored(
        simulated_warehouse,
        made("pa", lps="pooled", test="perm-systems"),
        "sim24",
        lps=["en-de", "cs-uk"],
        significance=True,
        testing=BESIDE,
    )
    (task,) = found.tasks
    assert task.beside is not None
    assert task.beside.test == "bootstrap-normal"
    assert task.beside.clusters.any()
    assert "|p_value:one_sided,ge,uncorrected|" in found.signature
    assert "population_p_value" not in found.signature  # nothing counts ties half
    lines = beside_lines(found)
    assert lines[0].endswith("generalise to new segments of these systems:")
    assert lines[2].startswith(f"{task_name(task)}: of {task.beside.n_own} pairs of metrics")


@pytest.mark.slow
def test_what_has_no_test_for_the_population_is_named(simulated_warehouse: Warehouse) -> None:
    protocol = made("weighted_tau", "acc_eq(by=item)")
    few = replace(BESIDE, resamples=20)
    found = scored(simulated_warehouse, protocol, "sim24", lps=["cs-uk"], significance=True, testing=few)
    assert found.tasks[0].beside is None
    assert found.beside is None
    assert "cs-uk weighted_tau is not tested for this population" in beside_lines(found)
    both = replace(few, population="both")
    found = scored(simulated_warehouse, protocol, "sim24", lps=["cs-uk"], significance=True, testing=both)
    assert found.tasks[1].beside is not None
    assert found.tasks[1].beside.test == "jackknife-both"
    with pytest.raises(QuestionError, match="add significance=True"):
        scored(simulated_warehouse, protocol, "sim24", lps=["cs-uk"], testing=BESIDE)
