"""Views of the catalogue: what they say of evaluation sets whose official human score is loaded or not."""

from dataclasses import replace
from pathlib import Path

from tests.helpers import LP, mqm_table, tiny_facts, tiny_layout, tiny_warehouse
from warehouse import Warehouse
from warehouse.export.mtme import write_facts
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
