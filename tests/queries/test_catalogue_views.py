"""Views of the catalogue: what they say of evaluation sets whose official human score is loaded or not."""

from dataclasses import replace
from pathlib import Path

from tests.helpers import LP, mqm_table, tiny_facts, tiny_layout, tiny_warehouse
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
