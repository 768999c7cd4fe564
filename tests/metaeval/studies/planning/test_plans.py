"""Plans on the simulated task: data sets of other sizes, units, what they assume, and what cannot be planned."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metaeval
from metaeval.kernels.resampling.saddlepoint import gap_p_values
from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.answer import Result
from metaeval.results.evaluation import evaluate
from metaeval.results.inputs import Inputs
from metaeval.studies.planning.comparisons import _permuted, _welch, plan_metrics
from metaeval.studies.planning.plans import drawn_block, judged_block, members_of, simulation_of_units, unit_of
from metaeval.studies.planning.settings import PlanSettings
from queries.slices import Slice
from tests.helpers import tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable

EN_DE = ("sim24", "en-de")
METRICS = ("Oriole", "Embermatch")
QUICK: dict[str, Any] = {"simulations": 20, "resamples": 40}
OF_SYSTEMS: dict[str, Any] = {"compare": "systems", "simulations": 20}


@pytest.fixture(scope="module")
def of_segments(simulated_warehouse: Warehouse) -> Result:
    """The segments that tell the two metrics apart."""
    return metaeval.plan(simulated_warehouse, *EN_DE, *METRICS, "pearson(by=none)", unit="segment", **QUICK)


@pytest.mark.slow
def test_two_metrics_need_fewer_segments_than_loaded_are(of_segments: Result) -> None:
    row = of_segments.frame.row(0, named=True)
    assert (row["first"], row["second"], row["test"]) == ("Oriole-refA", "Embermatch-refA", "perm-inputs")
    assert row["low"] <= row["needed"] <= row["high"] < row["n_loaded"]
    assert row["data_low"] <= row["low"]
    assert row["high"] <= row["data_high"]
    assert row["power_loaded"] == 1
    assert row["reason"] is None
    low, size, high = (row[name] for name in ("data_low", "needed", "data_high"))
    assert (
        f"takes about {size} segments, if these are independent (95% interval: {low} to {high}); "
        in of_segments.summary
    )
    assert of_segments.notes[0] == "assumes that new segments are like the loaded ones, and the systems stay the same"


@pytest.mark.slow
def test_without_enough_power_at_any_size_the_sentence_gives_the_greatest(tmp_path: Path) -> None:
    """A difference of 0.1 is less than one standard error of 640 segments, the most that are simulated."""
    other = np.array([0.0, -1.0] * 5)
    seg = np.array([[-2.0, -2.0, -2.0, 0.0, 0.0, -3.0, -2.0, -3.0, 2.0, 8.0], other])
    seg[0, -1] += seg[1].sum() - seg[0].sum() + 1
    human = ScoreTable(systems=("Ash", "Beech"), seg=seg, sys=seg.mean(axis=1))
    given: dict[str, Any] = {"documents": [("news", "n")] * 10, "systems": ("Ash", "Beech"), "metrics": {}}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", humans={"mqm": human}, **given)) as opened:
        found = metaeval.plan(opened, "tiny24", "en-de", "Ash", "Beech", **OF_SYSTEMS)
    row, most = found.frame.row(0, named=True), found.facts["curve"].sort("units").row(-1, named=True)
    assert row["needed"] is None
    assert found.summary == (
        f"Not even {most['units']} segments would tell Ash and Beech apart by mqm with power 0.8: the power is "
        f"{most['power']:.2f} with them; 10 are loaded, power {row['power_loaded']:.2f}. "
        "Their difference may be chance."
    )


def test_documents_are_the_unit_from_ten_on_and_one_drawn_twice_is_two(simulated_warehouse: Warehouse) -> None:
    block = Inputs(simulated_warehouse, Slice(*EN_DE, metrics=METRICS)).of_level("seg")
    judged = block.judged.any(axis=0)
    n = len({name for name, kept in zip(block.selection.documents, judged, strict=True) if kept})
    assert unit_of(block.selection, judged, None) == "document"
    drawn = simulation_of_units(block, "document")
    assert drawn.n_loaded == n >= 10
    simulated = drawn.draw(3 * n, np.random.default_rng(0))
    assert len(set(simulated.selection.documents)) == 3 * n
    few = [name in block.selection.documents[:1] for name in block.selection.documents]
    assert unit_of(block.selection, judged & few, None) == "segment"


@pytest.mark.slow
def test_the_order_of_the_two_metrics_does_not_matter(of_segments: Result, simulated_warehouse: Warehouse) -> None:
    two = METRICS[::-1]
    other = metaeval.plan(simulated_warehouse, *EN_DE, *two, "pearson(by=none)", unit="segment", **QUICK)
    assert of_segments.frame.equals(other.frame)


def test_data_sets_of_the_default_measure_may_have_more_segments_than_loaded_are(
    simulated_warehouse: Warehouse,
) -> None:
    block = Inputs(simulated_warehouse, Slice(*EN_DE, metrics=METRICS)).of_level("seg")
    size = 2 * block.human.shape[1] + 1
    simulated = simulation_of_units(block, "segment").draw(size, np.random.default_rng(0))
    found = evaluate(parse_measure("acc_eq(by=item)"), simulated, Options())
    assert simulated.human.shape == (len(block.systems), size)
    assert not np.isnan(found.value).any()
    documents = dict(zip(block.selection.segments, block.selection.documents, strict=True))
    assert [documents[int(number)] for number in simulated.segments] == list(simulated.selection.documents)


@pytest.mark.long("a whole plan: 2 seconds")
def test_data_sets_of_spa_are_made_with_its_limit(simulated_warehouse: Warehouse) -> None:
    asked: dict[str, Any] = {"simulations": 20, "resamples": 20, "segments": "1-30"}
    found, by_limit = (
        metaeval.plan(simulated_warehouse, *EN_DE, *METRICS, name, **asked) for name in ("spa", "spa(n=inf)")
    )
    assert found.frame.drop("measure", "signature").equals(by_limit.frame.drop("measure", "signature"))
    assert "simulated data sets take spa(n=inf), the limit of spa for many resamples" in found.notes


@pytest.mark.slow
def test_judgements_tell_metrics_apart_too(simulated_warehouse: Warehouse) -> None:
    found = metaeval.plan(simulated_warehouse, *EN_DE, *METRICS, "pearson(by=none)", unit="judgement", **QUICK)
    row = found.frame.row(0, named=True)
    assert (row["unit"], row["first"], row["test"]) == ("judgement", "Oriole-refA", "perm-inputs")
    assert row["needed"] < row["n_loaded"]
    assert any(note.startswith("assumes that new judgements are like the loaded ones") for note in found.notes)


def test_a_data_set_of_judgements_has_their_means_as_its_human_score(simulated_warehouse: Warehouse) -> None:
    block = Inputs(simulated_warehouse, Slice(*EN_DE, metrics=METRICS)).of_level("seg")
    n_segments = block.human.shape[1]
    outputs = np.array([0, 0, n_segments + 2])
    simulated = judged_block(block, outputs, np.array([-1.0, -4.0, -7.0]))
    assert simulated.human[0, 0] == -2.5
    assert simulated.human[1, 2] == -7.0
    assert int(simulated.judged.sum()) == 2


@pytest.mark.slow
def test_new_systems_are_another_plan_with_another_test(simulated_warehouse: Warehouse) -> None:
    found = metaeval.plan(simulated_warehouse, *EN_DE, *METRICS, "pearson", unit="system", **QUICK)
    row = found.frame.row(0, named=True)
    assert (row["unit"], row["test"], row["n_loaded"]) == ("system", "jackknife-systems", 15)
    assert "assumes that new systems are like the loaded ones, and the segments stay the same" in found.notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "test"), [("document", "permutation"), ("segment", "permutation"), ("judgement", "welch")]
)
def test_two_systems(simulated_warehouse: Warehouse, unit: str, test: str) -> None:
    ranked = metaeval.systems(simulated_warehouse, *EN_DE, test="paired-t").frame["system"]
    better, worse = ranked[2], ranked[7]
    found = metaeval.plan(simulated_warehouse, *EN_DE, worse, better, unit=unit, **OF_SYSTEMS)
    row = found.frame.row(0, named=True)
    assert (row["first"], row["second"], row["test"], row["measure"]) == (better, worse, test, "mqm")
    assert (row["unit"], row["needed"] is not None) == (unit, True)
    assert row["difference"] > 0
    assumed = "" if unit == "document" else ", if these are independent"
    assert (
        f" apart by {row['measure']} with power 0.8 takes about {row['needed']} {unit}s{assumed} (95% interval: "
        in found.summary
    )


def test_a_data_set_of_segments_keeps_the_systems_and_one_of_systems_the_segments(
    simulated_warehouse: Warehouse,
) -> None:
    block = Inputs(simulated_warehouse, Slice(*EN_DE, metrics=METRICS)).of_level("seg")
    picks = np.array([3, 3, 1])
    draws = np.arange(3)
    segments, systems = drawn_block(block, "segment", picks, draws), drawn_block(block, "system", picks, draws)
    np.testing.assert_array_equal(segments.human, block.human[:, picks])
    np.testing.assert_array_equal(segments.scores, block.scores[:, :, picks])
    assert segments.systems == block.systems
    np.testing.assert_array_equal(systems.human, block.human[picks])
    np.testing.assert_array_equal(systems.submitted, block.submitted[:, picks])
    assert systems.systems == tuple(block.systems[place] for place in picks)


def test_a_data_set_of_two_systems_finds_what_is_clear_and_nothing_the_other_way_round() -> None:
    clear = np.arange(1.0, 40.0)
    each = [np.array([gap]) for gap in clear]
    assert _permuted(each, 0.05)(30, np.random.default_rng(0))[0]
    assert not _permuted([-one for one in each], 0.05)(30, np.random.default_rng(0))[0]
    assert not _permuted([np.zeros(1)] * 20, 0.05)(30, np.random.default_rng(0))[0]
    assert _permuted([clear] * 3, 0.05)(5, np.random.default_rng(0)) == (
        False,
        20.0,
    )  # 5 documents cannot reach p = .05
    assert _welch(clear + 100, clear, 0.05)(30, np.random.default_rng(0))[0]
    assert not _welch(clear, clear + 100, 0.05)(30, np.random.default_rng(0))[0]


def test_systems_are_planned_for_a_test_of_their_means_and_not_of_their_medians() -> None:
    # Most differences favour the first system, and the few others are so large that the means hardly differ.
    gaps = np.repeat([1.0, -3.9], [80, 20])
    of_segments = _permuted([np.array([gap]) for gap in gaps], 0.05)
    of_judgements = _welch(gaps, np.zeros(100), 0.05)
    for trial in (of_segments, of_judgements):
        assert sum(trial(100, np.random.default_rng(seed))[0] for seed in range(100)) < 10  # Wilcoxon's test: 57


def test_a_trial_tests_as_systems_does(simulated_warehouse: Warehouse) -> None:
    ranked = metaeval.systems(simulated_warehouse, *EN_DE, resamples=20_000)
    block = Inputs(simulated_warehouse, Slice(*EN_DE)).of_level("seg")
    for first, second in itertools.combinations(range(6), 2):
        one, other = (block.systems.index(ranked.frame["system"][place]) for place in (first, second))
        both = block.judged[one] & block.judged[other]
        gaps = block.human[one] - block.human[other]
        sums = np.array([gaps[members].sum() for members in members_of(block.selection, both, "document")])
        p = ranked.frame[ranked.frame["system"][second]][first]
        assert 2 * min(gap_p_values(sums[np.newaxis]))[0] == pytest.approx(p, abs=0.02)


@pytest.mark.parametrize(
    ("names", "more", "message"),
    [
        (("simBLEU", "simBLEU"), {}, "two metrics are needed"),
        (("simBLEU", "simBLEW"), {}, "unknown metric 'simBLEW'"),
        (METRICS, {"simulations": 3}, "expected a whole number from 20 to"),
        (METRICS, {"power": 0.2}, "power 0.2"),
        (METRICS, {"systems": ("[AB]*",), "measure": "pearson"}, "there is no test: 2 systems have human scores"),
        (METRICS, {"segments": "1-4"}, "there is no test: 4 segments have human scores, and it takes at least 5"),
        (METRICS, {"unit": "documents"}, "unit 'documents': expected one of document, segment, system, judgement"),
        (("A", "B"), {**OF_SYSTEMS, "unit": "system"}, "two systems need documents, segments or judgements"),
        (("A", "B"), OF_SYSTEMS, "unknown system"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    names: tuple[str, str], more: dict[str, Any], message: str, simulated_warehouse: Warehouse
) -> None:
    with pytest.raises(QuestionError, match=message):
        metaeval.plan(simulated_warehouse, *EN_DE, *names, **{"simulations": 20, **more})


def test_without_single_judgements_there_is_no_plan_of_them(simulated_warehouse: Warehouse) -> None:
    systems = metaeval.systems(simulated_warehouse, "sim23", "cs-uk", test="paired-t").frame["system"]
    with pytest.raises(QuestionError, match="no single judgements of mqm"):
        metaeval.plan(simulated_warehouse, "sim23", "cs-uk", systems[0], systems[-1], unit="judgement", **OF_SYSTEMS)


def test_without_single_judgements_metrics_are_planned_by_segments(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(
        QuestionError, match="no single judgements of mqm are loaded for sim23 cs-uk; take unit='segment'"
    ):
        metaeval.plan(simulated_warehouse, "sim23", "cs-uk", "simBLEU", "simTER", unit="judgement", **QUICK)


@pytest.mark.slow
def test_a_measure_without_a_test_for_the_population_says_so(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError):
        plan_metrics(
            simulated_warehouse,
            Slice(*EN_DE),
            METRICS,
            parse_measure("pearson"),
            Options(system_score="submitted"),
            PlanSettings(),
        )
