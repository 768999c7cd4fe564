"""What is remarked on any result: metrics that disagree with human scores or no system, or judge their choice."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import metaeval
from metaeval.kernels.arrays.checks import Floats
from metaeval.measures.options import Options
from metaeval.measures.registry import DEFINITIONS, parse_measure
from metaeval.results.remarks import overrating, residual
from metaeval.results.study import study
from queries.slices import Slice
from tests.helpers import MQM, ScoreTable, tiny_layout
from warehouse import Warehouse, load
from warehouse.facts.issues import optimised_systems
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import facts, known_testsets
from warehouse.own.scores import add

OF_SCORES = [name for name, one in DEFINITIONS.items() if not (one.needs_spans or one.needs_preferences)]
"""Measures that need no marked errors and no preferences, of which these tests have none."""
SYSTEMS = ("A", "B", "C", "D", "E", "F")
HUMAN = np.array([1.0, 2, 3, 4, 5, 6])
NAMED = "Errors-src correlates negatively with mqm system scores: -0.9"


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """A metric of errors; a human reference, good by people and bad by it, must not hide what the systems show."""
    folder = tmp_path_factory.mktemp("wrong")
    systems, human = (*SYSTEMS, "refB"), np.array([*HUMAN, 20])
    mixed = np.array([6.0, 2, 4, 1, 3, 5, 0])
    scores = {"Errors-src": np.array([*-HUMAN, 40]) + 0.1 * mixed, "Good-src": human, "Random-sysname-src": -human}
    tiny_layout(
        folder / "in",
        systems=systems,
        humans={"mqm": ScoreTable(systems, seg=human[:, None] + [-1.0, 0, 1], sys=human)},
        metrics={name: ScoreTable(systems, seg=x[:, None] + [-1.0, 0, 1], sys=x) for name, x in scores.items()},
        documents=(("news", "a"), ("news", "b"), ("news", "c")),
        texts=False,
    )
    report = load([folder / "in"], folder / "a.duckdb")
    assert report.is_clean, report.faults
    with Warehouse.open(folder / "a.duckdb") as warehouse:
        yield warehouse


def test_a_metric_that_falls_where_people_rise_is_named_by_every_door(wrong: Warehouse) -> None:
    silent = []
    for measure in OF_SCORES:
        ranked = study(wrong, Slice("tiny24", "en-de", human="mqm"), [parse_measure(measure)], Options()).notes
        compared = metaeval.compare(wrong, "tiny24", "en-de", measure=measure, human="mqm", resamples=10).notes
        for door, notes in (("rank", ranked), ("compare", compared)):
            match [note for note in notes if "correlates" in note]:
                case [note] if note.startswith(NAMED) and "over 6 MT systems; wrong sign?" in note:
                    pass
                case found:
                    silent.append((measure, door, found))
    assert not silent


def test_the_sign_of_scores_of_error_spans_is_not_in_doubt(tmp_path: Path) -> None:
    scores = ScoreTable(SYSTEMS, seg=HUMAN[:, None] + [-1.0, 0, 1], sys=HUMAN)
    tiny_layout(
        tmp_path / "in",
        systems=SYSTEMS,
        humans={"mqm": scores},
        metrics={"Good-src": scores},
        documents=(("news", "a"), ("news", "b"), ("news", "c")),
    )
    assert load([tmp_path / "in"], tmp_path / "a.duckdb").is_clean
    lines = ["system,segment,start,end,severity"]
    for n_errors, system in enumerate(SYSTEMS, 1):  # the better by people, the more errors
        lines += [f"{system},{at},{n},{n + 1},minor" for at in (1, 2, 3) for n in range(n_errors)]
    (tmp_path / "spans.csv").write_text("\n".join(lines) + "\n")
    report = add([tmp_path / "spans.csv"], tmp_path / "a.duckdb", "Spans", testset="tiny24", lp="en-de")
    assert not report.faults, report.faults
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        asked = Slice("tiny24", "en-de", human="mqm", user_metrics=True)
        notes = study(warehouse, asked, [parse_measure("pearson")], Options()).notes
    (note,) = [note for note in notes if "correlates" in note]
    assert note.startswith("Spans-src correlates negatively with mqm system scores: -1.000 over 6 MT systems")
    assert "wrong sign" not in note


def test_a_metric_that_scores_all_systems_alike_is_named(tmp_path: Path) -> None:
    """By segment it may differ, as one does that reads the source alone."""
    human = HUMAN[:, None] + [-1.0, 0, 1]
    metrics = {"Asleep-src": np.tile([0.1, 0.7, 0.4], (6, 1)), "Awake-src": human}
    tiny_layout(
        tmp_path / "in",
        systems=SYSTEMS,
        humans={"mqm": ScoreTable(SYSTEMS, seg=human, sys=HUMAN)},
        metrics={name: ScoreTable(SYSTEMS, seg=x, sys=x.mean(axis=1)) for name, x in metrics.items()},
        documents=(("news", "a"), ("news", "b"), ("news", "c")),
        texts=False,
    )
    load([tmp_path / "in"], tmp_path / "a.duckdb")
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        notes = metaeval.rank(warehouse, "tiny24", "en-de", measures=["spa(n=9)"]).notes
    assert [note.partition(":")[0] for note in notes if "all systems have the same scores" in note] == ["Asleep-src"]


BY_DEFINITION = {  # values of constants that papers or the organisers' tables define
    *("acc_eq", "tau_eq", "acc23", "tau_23"),  # the share of tied pairs, a floor of every calibrated metric
    *("tau_10", "tau_14", "tau_a", "kendall_like", "pdp", "tabular"),  # no pair right
    "rrp",  # the share of best outputs, as of a random choice
}


def test_a_metric_that_scores_all_outputs_alike_gets_nothing_for_systems_that_people_tie(tmp_path: Path) -> None:
    people = np.zeros((6, 3)) + np.array([0.0, 0, 0, 0, 0, -2.0])[:, None] + [-1.0, 0, 1]
    awake = people + np.random.default_rng(1).normal(size=people.shape)
    metrics = {"Asleep-src": np.full(people.shape, 0.5), "Awake-src": awake}
    tiny_layout(
        tmp_path / "in",
        systems=SYSTEMS,
        humans={"mqm": ScoreTable(SYSTEMS, seg=people, sys=people.mean(axis=1))},
        metrics={name: ScoreTable(SYSTEMS, seg=x, sys=x.mean(axis=1)) for name, x in metrics.items()},
        documents=(("news", "a"), ("news", "b"), ("news", "c")),
        texts=False,
    )
    load([tmp_path / "in"], tmp_path / "a.duckdb")
    measures = [name for name in OF_SCORES if not name.startswith("accuracy")]
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        found = metaeval.rank(warehouse, "tiny24", "en-de", measures=measures)
        tested = metaeval.rank(warehouse, "tiny24", "en-de", measures=["pa", "spa"], significance=True, ranges=True)
    asleep = dict(found.frame.filter(metric="Asleep-src").select("measure", "value").rows())
    assert {asleep["pa"], asleep["spa"], asleep["tau_ap"]} == {None}
    assert {name.partition("(")[0] for name, value in asleep.items() if value is not None} <= BY_DEFINITION
    reason = "gives all systems the same score, so it could agree only on pairs with tied human scores"
    why = f"is not defined for Asleep-src ({reason})"
    assert {f"pa {why}", f"spa {why}"} <= set(found.notes)
    ties = "Asleep-src orders no pair: by definition the value comes from pairs with tied human scores alone"
    assert {f"acc23(by=item): {ties}", f"tau_23(by=item): {ties}"} <= set(found.notes)
    (one, other) = tested.frame.filter(metric="Asleep-src").select("rank", "rank_low", "cluster").rows()
    assert one == other == (None, None, None)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    systems, seg = ("Ash", "Beech", "NLLB_MBR_BLEU"), np.array(MQM[:3])
    with Warehouse.open(_loaded(tmp_path_factory.mktemp("own"), systems, seg, np.nan_to_num(seg))) as opened:
        yield opened


def _loaded(tmp_path: Path, systems: tuple[str, ...], human: Floats, metric: Floats) -> Path:
    layout = tiny_layout(
        tmp_path,
        testset="wmt23",
        systems=(*systems, "refA"),
        humans={"mqm": ScoreTable(systems=systems, seg=human, sys=np.nanmean(human, axis=1))},
        metrics={
            name: ScoreTable(systems=systems, seg=metric + at) for at, name in enumerate(("BLEU-refA", "COMET-refA"))
        },
        facts=False,
    )
    report = load([layout], tmp_path / "w.duckdb")
    assert not report.faults
    return tmp_path / "w.duckdb"


LINE = (
    "NLLB_MBR_BLEU was made by minimum Bayes risk decoding with BLEU, so it is optimised for BLEU-refA or a related "
    "metric"
)


def test_a_ranking_names_the_metrics_that_judge_their_own_choice(warehouse: Warehouse) -> None:
    found = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all")
    assert LINE in found.notes
    assert any(
        "systems optimised for a metric have no residuals: only 2 systems were not optimised" in note
        for note in found.notes
    )
    for options in ({"systems": ["Ash", "Beech"]}, {"metrics": ["COMET"]}):
        other = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", **options)  # type: ignore[arg-type]
        assert not [note for note in other.notes if "so it is optimised for" in note]
    findings = metaeval.audit(warehouse, "wmt23", check="issues").frame
    assert any("Made by minimum Bayes risk decoding" in text for text in findings["finding"])


def test_such_systems_are_excluded_on_request(warehouse: Warehouse) -> None:
    found = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", without_optimised=True)
    by_name = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", systems=["Ash", "Beech"])
    why = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", without_optimised=True, explain=True)
    assert found.frame["value"].to_list() == by_name.frame["value"].to_list()
    assert "|optimised:out|" in found.signature
    assert not [note for note in found.notes if "so it is optimised for" in note]
    reasons = dict(why.frame.select("name", "reason").rows())
    assert reasons["NLLB_MBR_BLEU"] == "made by minimum Bayes risk decoding with BLEU"


def test_the_audit_says_how_far_a_metric_overrates_its_own_choice(tmp_path: Path) -> None:
    human, metric = np.array([0.0, 1.0, 2.0, 3.0, 1.0]), np.array([0.0, 2.0, 1.0, 3.0, 4.0])
    systems = ("Ash", "Beech", "Cherry", "Dogwood", "NLLB_MBR_BLEU")
    with Warehouse.open(
        _loaded(tmp_path, systems, *(np.tile(x[:, np.newaxis], 5) for x in (human, metric)))
    ) as warehouse:
        rows = metaeval.audit(warehouse, "wmt23", check="issues").frame.filter(subject="BLEU-refA")
        assert metaeval.audit(warehouse, check="noise").frame.filter(check="issues").is_empty()
    ((text, value),) = rows.select("finding", "value").rows()
    assert text.startswith("overrates NLLB_MBR_BLEU by 3.06 SD relative to the other 4 systems")
    assert value == pytest.approx(3.0569, abs=1e-4)  # as in the example of `residual`


def test_one_metric_that_was_submitted_in_two_spellings_is_one_finding(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [(name, "NLLB_MBR_BLEU", -1.5) for name in ("BLEU-refA", "bleu-refA", "eBLEU-refA")]
    monkeypatch.setattr("metaeval.results.remarks._residuals", lambda block: (found, 11))
    assert [one.subject for one in overrating(warehouse, "wmt23", None)] == ["BLEU-refA, bleu-refA", "eBLEU-refA"]


def test_a_residual_is_that_of_a_regression_without_the_system() -> None:
    rng = np.random.default_rng(0)
    human, metric = rng.normal(size=9), rng.normal(size=9)
    others = np.arange(9) < 7
    design = np.column_stack([np.ones(7), human[:7]])
    (intercept, slope), squares, *_ = np.linalg.lstsq(design, metric[:7], rcond=None)
    expected = (metric[8] - intercept - slope * human[8]) / np.sqrt(squares[0] / 5)
    assert residual(human, metric, others, 8) == pytest.approx(expected, rel=1e-12)
    assert residual(human, 3 * metric + 1, others, 8) == pytest.approx(expected, rel=1e-12)
    assert np.isnan(residual(human, human, others, 8))
    assert np.isnan(residual(human, metric, np.arange(9) < 2, 8))


def test_each_is_of_a_known_test_set_with_metrics_of_that_family() -> None:
    for one in optimised_systems():
        assert one.testset in known_testsets(), one
        official = facts(one.testset).primary or frozenset()
        year = facts(one.testset).year
        assert {describe(metric, year).family for metric in official} >= set(one.families), one
        assert one.source, one
