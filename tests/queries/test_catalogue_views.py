"""Views of the catalogue: what they say of evaluation sets whose official human score is loaded or not."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from queries.audit import audit
from queries.catalog import ask
from tests.helpers import LP, mqm_table, tiny_facts, tiny_layout, tiny_warehouse
from tests.warehouse.readers.samples import esa
from warehouse import Warehouse
from warehouse.export.mtme import ScoreTable, write_facts
from warehouse.facts.testsets import EvalsetFacts


def test_evaluation_sets_say_which_official_human_score_is_loaded(tmp_path: Path) -> None:
    layout = tiny_layout(tmp_path / "layout", humans={"esa": mqm_table(), "mqm": mqm_table()})
    declared = EvalsetFacts(standard_reference="refA", standard_human={"seg": "wmt", "sys": "esa"})
    write_facts(layout, replace(tiny_facts(), lps={LP: declared}))
    with tiny_warehouse(tmp_path, layout) as warehouse:
        found = warehouse.sql(
            """
            SELECT standard_human_seg, is_standard_human_seg_loaded, standard_human_sys, is_standard_human_sys_loaded,
              loaded_humans_seg, loaded_humans_sys
            FROM evalsets
            """
        )
    assert found.rows() == [("wmt", False, "esa", True, "esa,mqm", "esa,mqm")]


def test_segments_that_no_file_lists_are_missing_and_the_views_agree(simulated_warehouse: Warehouse) -> None:
    rows = simulated_warehouse.rows(
        """
        SELECT h.n_scores, h.n_missing, h.n_systems * e.n_segments, h.levels, s.n_scores, s.n_missing
        FROM humans AS h
        JOIN evalsets AS e USING (testset, lp)
        JOIN (
          SELECT testset, lp, scorer AS human, sum(n_segments)::BIGINT AS n_scores, sum(n_missing)::BIGINT AS n_missing
          FROM system_scores
          WHERE kind = 'human'
          GROUP BY ALL
        ) AS s USING (testset, lp, human)
        """
    )
    assert any(row[1] for row in rows)
    for n_scores, n_missing, n_expected, levels, *of_systems in rows:
        assert of_systems == [n_scores, n_missing]
        assert n_missing == (n_expected - n_scores if "seg" in levels.split(",") else None)
    ((most,),) = simulated_warehouse.rows(
        "SELECT count(*) FROM system_scores AS s JOIN evalsets AS e USING (testset, lp) "
        "WHERE s.n_segments + s.n_missing <> e.n_segments"
    )
    assert most == 0


@pytest.mark.slow
def test_systems_that_nobody_judged_and_tutorials_lack_no_judgements(tmp_path: Path) -> None:
    layout = tiny_layout(tmp_path / "layout", humans={"mqm": _without_judgements_of("Ash")})
    wave = tmp_path / "wmt24" / "esa_wave2.csv"
    wave.parent.mkdir()
    tutorial = esa(system="ende-tutorial1", item=1000001, document="ende-tutorial1")
    wave.write_text(esa(item=1) + esa(item=2) + esa(system="IOL", item=1) + tutorial, encoding="utf-8")
    with tiny_warehouse(tmp_path, layout, wave.parent) as warehouse:
        by_human = warehouse.rows("SELECT human, n_systems, n_scores, n_missing FROM humans ORDER BY human")
        by_system = warehouse.rows(
            "SELECT scorer, system, n_segments, n_missing FROM system_scores WHERE kind = 'human' ORDER BY ALL"
        )
        coverage = {finding.subject: (finding.n, finding.value) for finding in audit(warehouse, checks=["coverage"])}
    assert by_human == [("esa", 2, 3, 1), ("mqm", 3, 11, 4)]
    assert by_system == [
        ("esa", "GPT-4", 2, 0),
        ("esa", "IOL", 1, 1),
        ("esa", "ende-tutorial1", 0, None),
        ("mqm", "Ash", 0, None),
        ("mqm", "Beech", 4, 1),
        ("mqm", "Cherry", 4, 1),
        ("mqm", "refA", 3, 2),
    ]
    assert coverage == {"esa": (3, 3 / 4), "mqm": (11, 11 / 15)}


def _without_judgements_of(system: str) -> ScoreTable:
    table = mqm_table()
    is_other = np.array([name != system for name in table.systems])
    assert table.seg is not None
    assert table.sys is not None
    return replace(
        table, seg=np.where(is_other[:, np.newaxis], table.seg, np.nan), sys=np.where(is_other, table.sys, np.nan)
    )


def test_all_stands_for_the_human_scores_and_challenge_sets_of_the_views(simulated_warehouse: Warehouse) -> None:
    asked = ask(simulated_warehouse, "evalsets_with_humans").drop_nulls("human")
    humans = simulated_warehouse.sql("SELECT testset, lp, human, is_standard FROM humans")
    assert set(asked.select(humans.columns).rows()) == set(humans.rows())
    challenging = simulated_warehouse.sql("SELECT testset FROM testsets WHERE kind = 'challenge'")
    assert set(asked.filter("is_challenge")["testset"]) == set(challenging["testset"])
