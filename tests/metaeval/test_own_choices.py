"""Rankings say which metrics judge systems that they, or their relatives, selected."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import metaeval
from metaeval.kernels.arrays.checks import Floats
from metaeval.remarks import residual
from tests.helpers import MQM, ScoreTable, tiny_layout
from warehouse import Warehouse, load
from warehouse.facts.issues import optimised_systems
from warehouse.facts.metrics import describe
from warehouse.facts.testsets import facts, known_testsets

SYSTEMS = ("Ash", "Beech", "NLLB_MBR_BLEU")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    seg = np.array(MQM[:3])
    with Warehouse.open(_loaded(tmp_path_factory.mktemp("own"), SYSTEMS, seg, np.nan_to_num(seg))) as opened:
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


LINE = "NLLB_MBR_BLEU was made by minimum Bayes risk decoding with BLEU: BLEU-refA judges its own choice"


def test_a_ranking_names_the_metrics_that_judge_their_own_choice(warehouse: Warehouse) -> None:
    found = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all")
    assert LINE in found.notes
    assert any("no residuals of metrics on their own choices, as 2 systems" in note for note in found.notes)
    for options in ({"systems": ["Ash", "Beech"]}, {"metrics": ["COMET"]}):
        other = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", **options)  # type: ignore[arg-type]
        assert not [note for note in other.notes if "own choice" in note]
    findings = metaeval.audit(warehouse, "wmt23", check="issues").frame
    assert any("Made by minimum Bayes risk decoding" in text for text in findings["finding"])


def test_such_systems_are_excluded_on_request(warehouse: Warehouse) -> None:
    found = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", without_optimised=True)
    by_name = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", systems=["Ash", "Beech"])
    why = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", without_optimised=True, explain=True)
    assert found.frame["value"].to_list() == by_name.frame["value"].to_list()
    assert "|optimised:out|" in found.signature
    assert not [note for note in found.notes if "own choice" in note]
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
    assert text.startswith("judges NLLB_MBR_BLEU, its own choice, +3.06 standard deviations")
    assert value == pytest.approx(3.0569, abs=1e-4)  # as in the example of `residual`


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
