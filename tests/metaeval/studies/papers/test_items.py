"""Every item on the simulated task: values that are there, in range, and equal to what measures and commands say."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

import metaeval
from metaeval.results.inputs import Inputs
from metaeval.studies.papers import PAPERS, item_named, paper_named
from metaeval.studies.papers.deutsch_2023 import CONSTANT, TOY_HUMAN, toy_taus
from metaeval.studies.papers.diianni_2025 import MEASURES, SEGMENT_MEAN, segment_means
from metaeval.studies.papers.items import Item, Paper, Request
from metaeval.studies.papers.running import Outcome, run
from metaeval.studies.protocols import protocols
from metaeval.studies.protocols.entry import enter
from metaeval.studies.protocols.scoring import score
from queries.slices import Slice
from tests import naive
from warehouse import QuestionError, Warehouse

SIM = ("sim24", "cs-uk")
FEW = ("simBLEU-*", "Kestrel-24-*", "Dice-*")
OF_FEW = [f"table-{number}" for number in range(11, 20)]
"""Tables of metrics with all taus: here of a few."""
ITEMS = [(paper, item) for paper in PAPERS.values() for item in paper.items]
Floats = npt.NDArray[np.float64]
Values = dict[tuple[str, str], float | None]


Computes = Callable[..., Outcome]


@pytest.fixture(scope="module")
def outcome(simulated_warehouse: Warehouse) -> Computes:
    """An item on the simulated task, computed once."""

    @cache
    def compute(paper: str, item: str, *where: str, metrics: tuple[str, ...] = (), draws: int = 20) -> Outcome:
        found = paper_named(paper)
        one = item_named(found, item)
        request = Request(lambda: nullcontext(simulated_warehouse), draws=draws, metrics=metrics)
        return run(request, found, one, *(where or (SIM if one.needs_data else ())))

    return compute


def _values(found: Outcome) -> Values:
    return {(row.cell.row, row.cell.column): row.cell.value for row in found.rows}


def _tau_b(human: Floats, metric: Floats) -> float:
    return float(naive.tau("tau_b", [*zip(human.tolist(), metric.tolist(), strict=True)]))


@pytest.mark.every(4)
@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=[f"{paper.name} {item.name}" for paper, item in ITEMS])
def test_every_item_has_values_on_other_data_and_none_of_them_is_judged(
    outcome: Computes, paper: Paper, item: Item
) -> None:
    where = ("sim24", "en-de,cs-uk") if item.name == "thresholds" else ()  # from one set to another
    metrics = FEW if item.name in OF_FEW else ()
    found = outcome(paper.name, item.name, *where, metrics=metrics, draws=3 if item.name == "noise" else 20)
    assert found.rows
    assert any(row.cell.value is not None for row in found.rows)
    places = [(row.cell.row, row.cell.column, row.cell.testset, row.cell.lp) for row in found.rows]
    assert len(set(places)) == len(places)
    of_drawn = {"met", "explained", "new"}  # points that the paper draws have no printed value
    expected = {"new"} if item.needs_data else of_drawn if item.name == "figure-1" else {"met"}
    assert {row.verdict for row in found.rows} == expected
    assert found.signatures
    for row in found.rows:
        value, column = row.cell.value, row.cell.column
        if value is None:
            continue
        assert np.isfinite(value)
        if column.startswith(("share_", "acc", "p:", "p_legacy", "pa_p:", "spa_p:")) and not column.endswith("rank"):
            assert 0 <= value <= 1
        if column.startswith("n_") or column.endswith(("_rank", "_cluster")):
            assert value == int(value) >= 0


@pytest.mark.slow
def test_table_1_counts_what_compare_counts(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    values = _values(outcome("thompson-2024", "table-1"))
    row = ".".join(SIM)
    for name in ("pa", "spa"):
        table = metaeval.compare(
            simulated_warehouse,
            *SIM,
            measure=name,
            test="perm-inputs",
            resamples=20,
            kind="reference-based",
            raw_ties=name == "pa",
        )
        found = re.match(r"(\d+) pairs? .*, (\d+) clusters?, (\d+) distinct", table.notes[0])
        assert found is not None, table.notes[0]
        n_significant, n_clusters, n_distinct = map(int, found.groups())
        assert (values[row, f"{name}_significant"], values[row, f"{name}_clusters"]) == (n_significant, n_clusters)
        assert values[row, f"{name}_distinct"] == n_distinct
    n = values[row, "n_metrics"]
    assert n is not None
    assert values[row, "n_pairs"] == n * (n - 1) // 2


@pytest.mark.slow
def test_tables_of_ties_matter_are_what_rank_says(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    for item, by in (("table-12", "item"), ("table-13", "system")):
        values = _values(outcome("deutsch-2023", item, metrics=FEW))
        for name in ("tau_b", "tau_10", "acc23", "acc_eq"):
            frame = metaeval.rank(simulated_warehouse, *SIM, f"{name}(by={by})", metrics=FEW).frame
            assert frame.height > 2
            for row in frame.rows(named=True):
                assert values[row["base_metric"], name] == pytest.approx(row["value"] or 0.0)
                if name == "acc_eq":
                    assert values[row["base_metric"], "epsilon"] == row["epsilon"]
        assert values[CONSTANT, "tau_10"] == -1.0
        assert values[CONSTANT, "tau_b"] == values[CONSTANT, "tau_13"] == 0.0
        assert values[CONSTANT, "acc23"] == values[CONSTANT, "acc_eq"]


def test_tied_pairs_are_those_of_the_command(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    values = _values(outcome("deutsch-2023", "table-9"))
    for row in metaeval.thresholds(simulated_warehouse, *SIM, ties=True).frame.rows(named=True):
        if row["kind"] == "human":
            assert values[row["by"], "n_tied"] == row["n_tied"]
            assert values[row["by"], "share_tied_zero"] == row["share_tied_zero"]


@pytest.mark.slow
def test_carried_thresholds_are_those_of_the_other_set_and_never_gain(
    outcome: Computes, simulated_warehouse: Warehouse
) -> None:
    found = outcome("deutsch-2023", "thresholds", "sim24", "en-de,cs-uk")
    by_lp = {
        lp: {(row.cell.row, row.cell.column): row.cell.value for row in found.rows if row.cell.lp == lp}
        for lp in ("en-de", "cs-uk")
    }
    measure, plain = "acc_eq(by=item)", "acc23(by=item)"
    compared = 0
    for lp, other in (("en-de", "cs-uk"), ("cs-uk", "en-de")):
        own, source = by_lp[lp], f"sim24 {other}"
        frame = metaeval.rank(simulated_warehouse, "sim24", lp, measure).frame
        at_zero = metaeval.rank(simulated_warehouse, "sim24", lp, plain).frame
        for row in frame.rows(named=True):
            name = row["base_metric"]
            if (name, "acc_eq") not in own:
                continue
            compared += 1
            assert own[name, "acc_eq"] == pytest.approx(row["value"])
            assert own[name, "epsilon"] == by_lp[other][name, f"epsilon of sim24 {lp}"] == row["epsilon"]
            loss = own[name, f"loss by {source}"]
            assert loss is not None
            assert loss >= -1e-12
            assert own[name, f"acc_eq by {source}"] == pytest.approx(row["value"] - loss)
        zero = {row["base_metric"]: row["value"] for row in at_zero.rows(named=True)}
        for name, column in own:
            if column == "acc_eq_at_0":
                assert own[name, column] == pytest.approx(zero[name])
    assert compared > 3
    with pytest.raises(QuestionError, match="carried between evaluation sets"):
        metaeval.paper(simulated_warehouse, "deutsch-2023", "thresholds", testset=SIM[0], lp=SIM[1])


def test_buckets_are_what_a_plain_loop_over_segments_finds(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    values = _values(outcome("deutsch-2023", "figure-3", metrics=("simBLEU-*",)))
    asked = Slice(*SIM, metrics=("simBLEU-*",))
    block = Inputs(simulated_warehouse, asked).judged_segments()
    low, high = np.nanmin(block.scores[0]), np.nanmax(block.scores[0])
    for n in (2, 4):
        binned = np.minimum((block.scores[0] - low) // ((high - low) / n), n - 1)
        taus = []
        for segment in range(block.human.shape[1]):
            judged = block.judged[:, segment]
            if judged.sum() > 1:
                taus.append(_tau_b(block.human[judged, segment], binned[judged, segment]))
        assert values[f"{n} buckets", "n_groups"] == np.count_nonzero(~np.isnan(taus))
        assert values[f"{n} buckets", "tau_b"] == pytest.approx(np.nanmean(taus))
    assert values["200 buckets", "tau_b"] == pytest.approx(values["as it is", "tau_b"], abs=0.02)


def test_williams_pairs_are_those_of_compare(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    values = _values(outcome("graham-2014", "figure-2"))
    table = metaeval.compare(
        simulated_warehouse, *SIM, measure="pearson", test="williams", alternative="greater", absolute=True,
        system_score="submitted",
    ).frame  # fmt: skip
    for row in table.rows(named=True):
        base = row["metric"].rpartition("-")[0]
        for other in table["metric"]:
            if row[other] is not None:
                assert values[base, f"p:{other.rpartition('-')[0]}"] == pytest.approx(row[other])


def test_the_last_ablation_of_systems_is_no_ablation(outcome: Computes) -> None:
    found = outcome("thompson-2024", "figure-2")
    values = _values(found)
    last = found.rows[-1].cell.row
    assert values[last, "pa_r"] == pytest.approx(1.0)
    assert values[last, "spa_low"] == pytest.approx(1.0)


def test_agreements_of_figure_1_average_to_the_measures(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    found = outcome("thompson-2024", "figure-1")
    metric = found.notes[0].removeprefix("metric: ")
    for name, measure in (("spa", "spa(n=20)"), ("pa", "spa(n=20, binary=yes)")):
        of_pairs = [row.cell.value for row in found.rows if row.cell.column == f"{name}_agreement"]
        frame = metaeval.rank(simulated_warehouse, *SIM, measure, metrics=metric).frame
        assert np.mean(of_pairs) == pytest.approx(frame["value"][0], abs=0.03)  # another order of systems


def test_table_2_over_all_pairs_is_pooled_pairwise_accuracy(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    values = _values(outcome("kocmi-2021", "table-2", "sim24", "en-de,cs-uk"))
    frame = metaeval.rank(simulated_warehouse, "sim24", "en-de,cs-uk", "pa(ties=tship)", pool="pairs").frame
    compared = 0
    for row in frame.rows(named=True):
        if (row["metric"], "All") in values and row["value"] is not None:
            assert values[row["metric"], "All"] == pytest.approx(100 * row["value"])
            compared += 1
    assert compared > 3


@pytest.mark.slow
def test_rankings_are_what_rank_says_and_a_metric_alike_within_segments_is_worth_nothing_to_pdp(
    outcome: Computes, simulated_warehouse: Warehouse
) -> None:
    values = _values(outcome("diianni-2025", "rankings"))
    for column, measure in MEASURES.items():
        for row in metaeval.rank(simulated_warehouse, *SIM, measure).frame.rows(named=True):
            assert values[row["metric"], column] == pytest.approx(row["value"])
    assert values[SEGMENT_MEAN, "pdp"] == 0.0
    assert values[SEGMENT_MEAN, "segment_pearson"] is None
    of_sentinels = _values(outcome("diianni-2025", "sentinels"))
    for name in MEASURES:
        assert of_sentinels[SEGMENT_MEAN, f"{name}_rank"] == values[SEGMENT_MEAN, f"{name}_rank"]


@pytest.mark.long("1 second")
def test_noise_and_oracles_are_what_the_command_says(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    frame = metaeval.noise(simulated_warehouse, *SIM, measures=[*MEASURES.values()], simulations=3).frame
    values = _values(outcome("diianni-2025", "noise", draws=3))
    names = {str(measure): name for name, measure in MEASURES.items()}
    for row in frame.rows(named=True):
        place = f"{row['kind']}, {row['strength']:g} {'share' if row['kind'] == 'outliers' else 'sd'}"
        for column, what in (("mean", "value"), ("low", "low"), ("high", "high"), ("sd", "sd")):
            assert values[place, f"{names[row['measure']]}_{column}"] == row[what]
    frame = metaeval.noise(simulated_warehouse, *SIM, oracles=True, measures=[*MEASURES.values()]).frame
    found = outcome("diianni-2025", "oracles")
    values = _values(found)
    for row in frame.rows(named=True):
        place, name = f"{row['kind']}: {row['name']}", names[row["measure"]]
        assert values[place, name] == row["value"]
        assert values.get((place, f"{name}_rank")) == row["rank"]
    assert {row.cell.note for row in found.rows if row.cell.value is None} <= set(frame["reason"])


def test_noise_goes_into_the_metric_that_is_named(outcome: Computes) -> None:
    found = outcome("diianni-2025", "noise", metrics=("simBLEU-*",), draws=1)
    assert found.notes[0].startswith("metric: simBLEU-")
    (clean,) = [
        row.cell.value for row in outcome("diianni-2025", "rankings").rows
        if row.cell.row.startswith("simBLEU") and row.cell.column == "pdp"
    ]  # fmt: skip
    assert _values(found)["independent, 0 sd", "pdp_mean"] == pytest.approx(clean)
    with pytest.raises(QuestionError, match="takes one metric"):
        outcome("diianni-2025", "noise", metrics=("simBLEU-*", "Kestrel-*"))


def test_segment_means_are_alike_for_all_systems_and_leave_constant_metrics_out() -> None:
    scores = np.random.default_rng(0).normal(0, 1, (2, 3, 4))
    judged = np.ones((3, 4), dtype=bool)
    found = segment_means(scores, judged)
    assert (found == found[0]).all()
    with_constant = np.concatenate([scores, np.full((1, 3, 4), 7.0)])
    np.testing.assert_allclose(segment_means(with_constant, judged) * 3 / 2, found)
    assert (segment_means(scores, ~judged) == 0).all()


@pytest.mark.slow
def test_common_segments_are_those_where_the_metric_with_fewest_is_defined(
    outcome: Computes, simulated_warehouse: Warehouse
) -> None:
    values = _values(outcome("deutsch-2023", "section-6.1"))
    block = Inputs(simulated_warehouse, Slice(*SIM)).judged_segments()
    taus: dict[str, dict[int, float]] = {}
    for metric, scores in zip(block.metrics, block.scores, strict=True):
        found = taus.setdefault(metric.base_name, {})
        for segment in range(block.human.shape[1]):
            on = block.judged[:, segment]
            people, machine = block.human[on, segment], scores[on, segment]
            if len(set(people)) > 1 and len(set(machine)) > 1:
                found[segment] = _tau_b(people, machine)
    reference = min((name for name in taus if taus[name]), key=lambda name: len(taus[name]))
    assert min(map(len, taus.values())) == 0  # one metric scores all systems of a segment alike
    for name, found in taus.items():
        common = [found[segment] for segment in found if segment in taus[reference]]
        assert values[name, "n_groups"] == len(found)
        assert values[name, "tau_b"] == (pytest.approx(np.mean([*found.values()])) if found else None)
        assert values[name, "n_groups_common"] == len(common)
        assert values[name, "tau_b_common"] == (pytest.approx(np.mean(common)) if common else None)


@pytest.mark.slow
def test_ties_that_are_broken_at_random_lift_tau_10_by_half_of_what_they_cost(
    outcome: Computes, simulated_warehouse: Warehouse
) -> None:
    values = _values(outcome("deutsch-2023", "section-6.1"))
    block = Inputs(simulated_warehouse, Slice(*SIM)).judged_segments()
    for metric, scores in zip(block.metrics, block.scores, strict=True):
        expected = []  # a broken tie is concordant or discordant, each with probability one half
        for segment in range(block.human.shape[1]):
            on = np.flatnonzero(block.judged[:, segment])
            pairs = [
                (i, j)
                for place, i in enumerate(on)
                for j in on[place + 1 :]
                if block.human[i, segment] != block.human[j, segment]
            ]
            signs = [
                np.sign(scores[i, segment] - scores[j, segment])
                * np.sign(block.human[i, segment] - block.human[j, segment])
                for i, j in pairs
            ]
            if signs:
                expected.append(float(np.mean(signs)))
        (row,) = [
            row.cell for row in outcome("deutsch-2023", "section-6.1").rows
            if (row.cell.row, row.cell.column) == (metric.base_name, "tau_10_broken")
        ]  # fmt: skip
        assert row.value == pytest.approx(np.mean(expected), abs=1e-9 + 5 * row.error / 20**0.5)
        assert values[metric.base_name, "tau_10"] <= row.value + 1e-9


@pytest.mark.slow
def test_the_rules_of_every_year_say_what_the_protocol_says(outcome: Computes, simulated_warehouse: Warehouse) -> None:
    found = outcome("thompson-2024", "section-5")
    values = _values(found)
    known = [one for one in protocols().values() if one.year <= 2024]
    names = [name for name, column in values if column == "overall"]
    assert [name.partition(" ")[0] for name in names] == [one.name for one in known]
    assert names[0] == "wmt07 (2007-2009)"
    assert names[-1] == "wmt24 (2024)"
    assert values[names[-1], "kendall"] == pytest.approx(1.0)
    for name in ("wmt13", "wmt21"):
        (row,) = [one for one in names if one.startswith(name)]
        scored = score(enter(simulated_warehouse, protocols()[name], SIM[0], lps=[SIM[1]]))
        assert values[row, "overall"] == pytest.approx(float(scored.overall[0]))
        assert values[row, "n_metrics"] == int((~np.isnan(scored.overall)).sum())
        for task in scored.tasks:
            if task.level == "sys":
                assert values[f"{row} {task.measure}", "best"] == pytest.approx(float(np.nanmax(task.values)))
    of_2013 = [name for name, _ in values if name.startswith("wmt13 (2013) ")]
    assert set(of_2013) == {"wmt13 (2013) spearman"}  # until 2013, as the paper says


def test_toy_taus_of_a_perfect_metric_are_one_where_they_can_be() -> None:
    found = toy_taus(TOY_HUMAN, TOY_HUMAN)
    assert found["tau_23"] == found["tau_10"] == found["tau_13"] == found["tau_14"] == 1.0
    assert found["tau_b"] == pytest.approx(1.0)


def test_what_cannot_be_computed_is_refused_with_the_reason(simulated_warehouse: Warehouse) -> None:
    def asked(*words: str) -> None:
        metaeval.paper(simulated_warehouse, **dict(zip(("paper", "item", "testset", "lp"), words, strict=False)))

    for words, message in (
        (("thompson-2042", "table-1"), "unknown paper 'thompson-2042'"),
        (("thompson-2024", "table-9"), "unknown item 'table-9' for thompson-2024"),
        (("thompson-2024", "table-1", "wmt09"), "unknown test set 'wmt09'"),
        (("deutsch-2023", "figure-2", "sim24"), "needs no scores"),
    ):
        with pytest.raises(QuestionError, match=message):
            asked(*words)
