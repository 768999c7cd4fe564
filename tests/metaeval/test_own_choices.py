"""Rankings say which metrics judge systems that they, or their relatives, selected."""

from pathlib import Path

import numpy as np
import pytest

import metaeval
from tests.helpers import ScoreTable, mqm_table, tiny_layout
from warehouse import Warehouse, load
from warehouse.facts.metrics import describe
from warehouse.facts.optimised import OptimisedSystem, optimised_systems
from warehouse.facts.testsets import facts, known_testsets

SYSTEMS = ("Ash", "Beech", "NLLB_MBR_BLEU")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    mqm = mqm_table()
    assert mqm.seg is not None
    seg = np.array(mqm.seg[:3])
    scores = {
        name: ScoreTable(systems=SYSTEMS, seg=np.nan_to_num(seg) + at)
        for at, name in enumerate(("BLEU-refA", "COMET-refA"))
    }
    layout = tiny_layout(
        tmp_path,
        testset="wmt23",
        systems=(*SYSTEMS, "refA"),
        humans={"mqm": ScoreTable(systems=SYSTEMS, seg=seg, sys=np.nanmean(seg, axis=1))},
        metrics=scores,
        facts=False,
    )
    report = load([layout], tmp_path / "w.duckdb")
    assert not report.faults
    return tmp_path / "w.duckdb"


LINE = "NLLB_MBR_BLEU was made by minimum Bayes risk decoding with BLEU: BLEU-refA judge their own choice"


def test_a_ranking_names_the_metrics_that_judge_their_own_choice(database: Path) -> None:
    with Warehouse.open(database) as warehouse:
        found = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all")
        assert LINE in found.notes
        for options in ({"systems": ["Ash", "Beech"]}, {"metrics": ["COMET"]}):
            other = metaeval.rank(warehouse, "wmt23", "en-de", "pa", status="all", **options)  # type: ignore[arg-type]
            assert not [note for note in other.notes if "own choice" in note]
        findings = metaeval.audit(warehouse, "wmt23", check="issues").frame
    assert any("Made by minimum Bayes risk decoding" in text for text in findings["finding"])


@pytest.mark.parametrize("one", optimised_systems(), ids=lambda one: one.system)
def test_each_is_of_a_known_test_set_with_metrics_of_that_family(one: OptimisedSystem) -> None:
    assert one.testset in known_testsets()
    official = facts(one.testset).primary or frozenset()
    year = facts(one.testset).year
    assert {describe(metric, year).family for metric in official} >= set(one.families)
    assert one.source
