"""Histories from a warehouse: computed once and stored, with reasons for what is missing, ceilings and contexts."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from metaeval import kernels, trend
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, TestOptions
from metaeval.measures.registry import parse_measure
from metaeval.results.inputs import Inputs
from metaeval.results.run import Run
from metaeval.studies.people.ceilings import common_blocks, second_human, split_half
from metaeval.studies.trends.history import History, HistorySettings, history
from metaeval.studies.trends.points import Resamples, anchor_place, context, few_systems, point, resamples
from queries.blocks import Block
from queries.longitudinal import evalset_states, judgements
from queries.slices import Slice
from tests.helpers import mqm_table, rank, reading, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable
from warehouse.own.scores import add

PA, PEARSON = parse_measure("pa"), parse_measure("pearson")
QUICK = TestOptions(resamples=20)


def of_hundred() -> ScoreTable:
    """MQM's scores on a scale from 0 to 100."""
    table = mqm_table()
    return replace(table, seg=100 + table.seg, sys=100 + table.sys)


def made(warehouse: Warehouse, asked: Slice, measure: Measure = PA, anchor: str = "simBLEU", **more: object) -> History:
    settings = HistorySettings(
        asked=asked,
        measure=measure,
        options=Options(),
        testing=QUICK,
        anchor=anchor,
        **more,  # type: ignore[arg-type]
    )
    return history(reading(warehouse), settings)


@pytest.fixture(scope="module")
def cs_uk(simulated_warehouse: Warehouse) -> History:
    return made(simulated_warehouse, Slice("all", "cs-uk"))


@pytest.mark.slow
def test_values_are_those_of_rankings(cs_uk: History, simulated_warehouse: Warehouse) -> None:
    assert [(entry.testset, entry.year) for entry in cs_uk.entries] == [
        ("sim21", 2021), ("sim22", 2022), ("sim23", 2023), ("sim24", 2024),
    ]  # fmt: skip
    for entry, one in cs_uk.official:
        ranked = rank(simulated_warehouse, entry.testset, "cs-uk", ["pa"])
        assert dict(zip(one.metrics, one.value, strict=True)) == dict(ranked.select("metric", "value").rows())
        assert one.human == ranked["human"][0]
        assert one.value[one.metrics.index("simBLEU-refA")] + one.gap == pytest.approx(one.value)
        assert np.isnan(one.gap_p[one.metrics.index("simBLEU-refA")])
        known = ~np.isnan(one.low)  # metrics without a value, or the anchor's own gap, have no interval
        assert ((one.low <= one.value + 1e-12) & (one.value <= one.high + 1e-12))[known].mean() > 0.8


@pytest.mark.slow
def test_without_intervals_nothing_is_resampled_and_gaps_are_the_same(
    cs_uk: History, simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    resampled: list[object] = []

    def counted(*given: object) -> Resamples:
        resampled.append(given[-1])
        return resamples(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("metaeval.studies.trends.points.resamples", counted)
    found = made(simulated_warehouse, Slice("all", "cs-uk"), intervals=False)
    assert set(resampled) == {None}
    for (_, one), (_, whole) in zip(found.official, cs_uk.official, strict=True):
        assert np.isnan([one.low, one.high]).all()
        assert np.isnan(one.covariance).all()
        for name in ("value", "gap", "gap_low", "gap_high", "gap_error", "gap_p"):
            np.testing.assert_array_equal(getattr(one, name), getattr(whole, name), name)
        assert one.signature == re.sub(r"\|interval:[^|]*", "", whole.signature)


@pytest.mark.slow
def test_a_bridge_on_what_the_official_human_score_judged_is_not_resampled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[str] = []

    def counted(measure: Measure, block: Block, *more: object) -> Resamples:
        counts.append(str(block.selection.human))
        return resamples(measure, block, *more)  # type: ignore[arg-type]

    monkeypatch.setattr("metaeval.studies.trends.points.resamples", counted)
    humans = {"mqm": mqm_table(), "esa": of_hundred()}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", humans=humans)) as warehouse:
        (entry,) = made(warehouse, Slice("tiny24", "en-de"), anchor="Fine").entries
    first, again, _ = entry.history.points
    assert (again.bridge, sorted(counts)) == ("esa", ["esa", "mqm"])
    np.testing.assert_array_equal(first.covariance, again.covariance)


def test_a_measure_with_tests_of_segments_alone_is_resampled_and_tested_over_segments(
    simulated_warehouse: Warehouse,
) -> None:
    found = made(simulated_warehouse, Slice("sim24", "cs-uk"), parse_measure("mae"))
    ((_, one),) = found.official
    assert "|test:bootstrap-normal|" in one.signature
    assert "unit:inputs" in one.signature or "inputs" in one.signature.split("interval:")[1]
    assert np.isnan(one.gap_p).tolist() == [name == "simBLEU-refA" for name in one.metrics]
    inside = (one.gap_low <= 0) & (one.gap_high >= 0)
    there = ~np.isnan(one.gap_p)
    assert (inside == (one.gap_p > 0.05))[there].all()


def test_two_protocols_on_the_same_systems_are_a_bridge(cs_uk: History) -> None:
    points = {entry.testset: [(one.human, one.bridge) for one in entry.history.points] for entry in cs_uk.entries}
    assert points["sim22"] == [("mqm", None), ("mqm", "wmt-z"), ("wmt-z", "mqm")]
    assert points["sim23"] == [("mqm", None)]  # raw and z-scores are one protocol, merged MQM is none of its own
    first, second = (one for entry in cs_uk.entries if entry.testset == "sim22" for one in entry.history.points[1:])
    assert first.ceiling is not None
    assert second.ceiling is not None
    assert first.ceiling.value == second.ceiling.value > 0.5  # pairwise accuracy is symmetric
    assert first.context.n_systems == second.context.n_systems


@pytest.mark.slow
def test_bridges_of_a_human_score_that_is_named_lead_to_each_other_protocol(tmp_path: Path) -> None:
    humans = {"mqm": mqm_table()} | dict.fromkeys(("esa", "da-sqm", "psqm"), of_hundred())
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", humans=humans)) as warehouse:

        def bridges(human: str) -> list[tuple[str, str]]:
            return (
                trend(warehouse, human=human, anchor="Fine", resamples=5, bridges=True)
                .frame.select("human", "other_human")
                .unique(maintain_order=True)
                .rows()
            )

        assert bridges("mqm") == [("mqm", "da-sqm"), ("mqm", "esa"), ("mqm", "psqm")]
        assert bridges("esa") == [("esa", "da-sqm"), ("esa", "mqm"), ("esa", "psqm")]
        (years,) = made(warehouse, Slice("all", "all", human="mqm"), anchor="Fine").entries
        assert [one.bridge for one in years.history.points] == [None]


@pytest.mark.slow
def test_what_is_stored_answers_without_computing_and_follows_the_data(
    tmp_path: Path, simulated_database: Path
) -> None:
    database = Path(shutil.copy(simulated_database, tmp_path / "own.duckdb"))
    asked, options = Slice("sim23,sim24", "cs-uk"), Options()

    def ask(*, fresh: bool = False, **more: object) -> History:
        opened = lambda: Warehouse.open(database)  # noqa: E731
        settings = HistorySettings(
            asked=asked,
            measure=PA,
            options=options,
            testing=QUICK,
            anchor="simBLEU",
            **more,  # type: ignore[arg-type]
        )
        return history(Run(opened, database), settings, fresh=fresh)

    first = ask()
    again = ask()
    assert (first.n_stored, again.n_stored) == (0, 2)
    for one, other in zip(first.official, again.official, strict=True):
        np.testing.assert_array_equal(one[1].covariance, other[1].covariance)
        np.testing.assert_array_equal(one[1].gap_p, other[1].gap_p)
        assert replace(one[1], **NOTHING) == replace(other[1], **NOTHING)  # type: ignore[arg-type]
    assert ask(fresh=True).n_stored == 0
    with Warehouse.open(database) as warehouse:
        states = {one.lp: one.fingerprint for one in evalset_states(warehouse, "sim24", "all")}
        kept = warehouse.rows("SELECT kind, testset, lp FROM results ORDER BY testset")
    assert kept == [("trend", "sim23", "cs-uk"), ("trend", "sim24", "cs-uk")]
    assert len(set(states.values())) == 3
    add_scores(database, tmp_path)
    after = ask()
    assert after.n_stored == 1  # the other evaluation set is as it was
    with Warehouse.open(database) as warehouse:
        changed = {one.lp: one.fingerprint for one in evalset_states(warehouse, "sim24", "all")}
    assert {lp for lp in states if states[lp] != changed[lp]} == {"cs-uk"}


def add_scores(database: Path, folder: Path) -> None:
    """A metric of one's own in sim24 cs-uk."""
    with Warehouse.open(database) as warehouse:
        lines = warehouse.rows(
            """
            SELECT system, value
            FROM scores
            WHERE testset = 'sim24' AND lp = 'cs-uk' AND metric = 'simTER-refA'
            ORDER BY system, segment
            """
        )
    path = folder / "cs-uk.Mine-refA.seg.score"
    path.write_text("".join(f"{system}\t{value}\n" for system, value in lines), encoding="utf-8")
    report = add([path], database, "Mine", reference="refA", testset="sim24", lp="cs-uk")
    assert report.is_clean, report.faults


ARRAYS = ("value", "low", "high", "gap", "gap_low", "gap_high", "gap_error", "gap_p", "covariance")
NOTHING = dict.fromkeys((*ARRAYS, "context", "ceiling"))  # what is compared by itself, or holds NaN


@pytest.mark.slow
def test_an_evaluation_set_without_an_answer_says_why(tmp_path: Path) -> None:
    silent = tiny_layout(tmp_path / "a", testset="tiny23", humans={})
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "b"), silent) as warehouse:
        found = made(warehouse, Slice("all", "en-de"), anchor="Rough")
    assert {entry.testset: entry.history.reason for entry in found.entries} == {
        "tiny23": "no human score is loaded",
        "tiny24": None,
    }
    with pytest.raises(QuestionError, match=r"unknown test set 'tiny25'"), tiny_warehouse(tmp_path) as warehouse:
        made(warehouse, Slice("tiny25", "all"))
    with pytest.raises(QuestionError, match=r"language pair 'xx-yy'"), tiny_warehouse(tmp_path) as warehouse:
        made(warehouse, Slice("tiny24", "xx-yy"))


def test_patterns_of_metrics_that_a_set_lacks_are_no_error_and_the_anchor_stays(simulated_warehouse: Warehouse) -> None:
    found = made(simulated_warehouse, Slice("all", "cs-uk", metrics=("Tally-errors",)))
    reasons = {entry.testset: entry.history.reason for entry in found.entries}
    assert reasons["sim21"] == "none of the metrics Tally-errors is in sim21 cs-uk"
    (entry,) = [one for one in found.entries if one.testset == "sim24"]
    assert set(entry.history.points[0].base_names) == {"Tally-errors", "simBLEU"}


def test_the_context_is_what_a_naive_loop_counts(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        block = Inputs(warehouse, Slice("tiny24", "en-de", human_references=False)).block(PA)
    found = context(block, PA, Options())
    # Ash, Beech, Cherry: MQM on four judged segments each; means -1.75, -3, -12.75
    assert (found.n_systems, found.n_segments) == (3, 4)
    assert found.human_sd == pytest.approx(np.std([-1.75, -3.0, -12.75], ddof=1))
    assert found.coverage == 12 / 15
    # pairs with a tie: Ash-Beech on the first segment, Beech-Cherry on the second; of 3 pairs on 4 segments
    assert found.tied_pairs == 2 / 12
    p = kernels.normal_p_values(block.human[np.newaxis], block.judged)[0]
    n = sum(2 * min(p[i, j], p[j, i]) <= 0.05 for i in range(3) for j in range(i + 1, 3))
    assert found.significant_pairs == n / 3


def test_an_anchor_is_found_whatever_its_spelling_and_by_its_paper(simulated_warehouse: Warehouse) -> None:
    block = Inputs(simulated_warehouse, Slice("sim24", "cs-uk")).block(PA)
    place = anchor_place(block.metrics, "SIM-bleu")
    assert place is not None
    assert block.metrics[place].name == "simBLEU-refA"
    assert anchor_place(block.metrics, "chrF") is None
    renamed = [replace(block.metrics[0], name="BLEU_4_closest_cased-ref", base_name="BLEU_4_closest_cased")]
    assert anchor_place(renamed, "BLEU") == 0  # another implementation of what one paper describes
    other = [replace(block.metrics[0], name="SIMPBLEU-ref", base_name="SIMPBLEU")]
    assert anchor_place(other, "BLEU") is None


def test_without_the_anchor_there_are_values_and_no_gaps(simulated_warehouse: Warehouse) -> None:
    block = Inputs(simulated_warehouse, Slice("sim24", "cs-uk")).block(PA)
    found = point(block, PA, Options(), QUICK, "BLEU")
    assert found.anchor is None
    assert np.isnan(found.gap).all()
    assert np.isnan(found.gap_error).all()
    assert "there are no gaps: the anchor BLEU has no value here" in found.notes


@pytest.mark.parametrize("measure", ["pa", "pearson", "spearman", "kendall", "spa", "acc_eq(by=item)"])
def test_with_few_systems_gaps_have_no_interval_and_no_p(simulated_warehouse: Warehouse, measure: str) -> None:
    block = Inputs(simulated_warehouse, Slice("sim24", "cs-uk")).block(parse_measure(measure))
    for n, reason in ((5, few_systems(5)), (6, None)):
        chosen = replace(block.selection.slice, systems=block.systems[:n])
        some = Inputs(simulated_warehouse, chosen).block(parse_measure(measure))
        found = point(some, parse_measure(measure), Options(), QUICK, "simBLEU")
        there = ~np.isnan([found.gap_low, found.gap_high, found.gap_p])
        assert there.any() == (reason is None)
        assert [note for note in found.notes if "an interval for new systems needs" in note] == (
            [reason] if reason else []
        )
        assert np.isfinite(found.gap).any()


def test_a_gap_that_no_resample_changes_has_no_interval_of_no_width(simulated_warehouse: Warehouse) -> None:
    block = Inputs(simulated_warehouse, Slice("sim24", "cs-uk")).block(PA)
    place = next(place for place, one in enumerate(block.metrics) if one.base_name == "Oriole")
    scores, submitted = block.scores.copy(), block.submitted.copy()
    other = anchor_place(block.metrics, "simBLEU")
    scores[place], submitted[place] = 2 * scores[other], 2 * submitted[other]
    found = point(replace(block, scores=scores, submitted=submitted), PA, Options(), QUICK, "simBLEU")
    name = block.metrics[place].name
    at = found.metrics.index(name)
    assert found.gap[at] == 0
    assert np.isnan([found.gap_low[at], found.gap_high[at], found.gap_error[at], found.gap_p[at]]).all()
    (note,) = [note for note in found.notes if "no p-value or interval" in note]
    assert name in note


@pytest.mark.slow
def test_another_human_score_as_if_it_were_a_metric(tmp_path: Path) -> None:
    # mqm by means: Ash > Beech > Cherry; esa orders Beech > Ash > Cherry: two of three pairs agree
    seg = np.array([[60.0] * 5, [70.0] * 5, [10.0] * 5])
    layout = tiny_layout(
        tmp_path / "layout",
        humans={
            "mqm": mqm_table(),
            "esa": ScoreTable(systems=("Ash", "Beech", "Cherry"), seg=seg, sys=seg.mean(axis=1)),
        },
    )
    asked = Slice("tiny24", "en-de")
    with tiny_warehouse(tmp_path, layout) as warehouse:
        first, second = common_blocks(warehouse, asked, "mqm", "esa", PA, Options())
        assert first.systems == second.systems == ("Ash", "Beech", "Cherry")
        assert second_human(first, second, PA, Options()).value == pytest.approx(2 / 3)
        by_segment = parse_measure("acc23(by=item)")
        one, other = common_blocks(warehouse, asked, "mqm", "esa", by_segment, Options())
    assert (one.judged == other.judged).all()
    assert int(one.judged.sum()) == 12


def test_halves_of_judgements_that_agree_reach_one(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        block = Inputs(warehouse, Slice("tiny24", "en-de", human_references=False)).block(PA)
    strength = {"Ash": 3.0, "Beech": 2.0, "Cherry": 1.0}
    rows = [
        (system, int(segment), f"rater{rater}", value)
        for system, value in strength.items()
        for segment in block.segments
        for rater in range(4)
    ]
    single = pl.DataFrame(rows, schema=["system", "segment", "rater", "value"], orient="row")
    found = split_half(block, single, "da", PA, Options())
    assert found is not None
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.source == "split-half, a lower bound: 4 annotators of da, 100 splits"
    unknown = single.with_columns(rater=pl.lit(None, dtype=pl.String))
    of_single = split_half(block, unknown, "da", PA, Options())
    assert of_single is not None
    assert of_single.source == "split-half, a lower bound: 60 judgements of da, 100 splits"
    assert split_half(block, single.head(1), "da", PA, Options()) is None


def test_judgements_come_in_a_fixed_order(simulated_warehouse: Warehouse) -> None:
    block = Inputs(simulated_warehouse, Slice("sim24", "en-de")).of_level("seg")
    frame = judgements(simulated_warehouse, block.selection.evalset_id, "mqm.merged")
    assert frame.columns == ["system", "segment", "rater", "value"]
    assert frame.height > 0
    assert frame.select("system", "segment").rows() == sorted(frame.select("system", "segment").rows())
