"""Files as the shared tasks publish them, of several formats in one folder, loaded into one evaluation set."""

from pathlib import Path

import pytest

from tests.warehouse.building import ask
from warehouse import LoadHints, load
from warehouse.wording import option


@pytest.mark.slow
def test_a_table_of_a_metric_that_the_task_did_not_have_asks_for_add(tmp_path: Path) -> None:
    database, table = tmp_path / "w.duckdb", tmp_path / "mine.csv"
    header = "testset,lp,metric,system,seg,score\n"
    table.write_text(header + "".join(f"wmt23,en-de,{name},A,1,0.5\n" for name in ("BLEU", "Mine", "Other")))
    report = load([table], database)
    assert [(fault.line, fault.found) for fault in report.faults] == [
        (3, "metric 'Mine', which was not in wmt23"),
        (4, "metric 'Other', which was not in wmt23"),
    ]
    assert "scorehouse add mine.csv metric='Mine'" in str(report.faults[0])
    assert [evalset.status for evalset in report.evalsets] == ["refused"]
    table.write_text(header + "wmt23,en-de,BLEU,A,1,0.5\nlab23,en-de,Mine,A,1,0.5\n")
    assert load([table], database).is_clean


_FACTS = """
name = "mine25"
year = 2025

[metrics]
primary = ["Ours", "BLEU"]
baseline = ["BLEU"]

[lps."en-de"]
standard_reference = "refB"
standard_human.sys = "mqm"
standard_human.seg = "mqm"
"""
_STANDARDS = "SELECT year, standard_reference, standard_human_seg FROM evalsets"


def _own_tables(folder: Path) -> Path:
    folder.mkdir()
    rows = [f"{system},{segment},{segment / 10},{-segment}" for system in "AB" for segment in (1, 2, 3)]
    (folder / "scores.csv").write_text("\n".join(["system,segment,Ours,mqm", *rows]) + "\n")
    (folder / "testset.toml").write_text(_FACTS)
    return folder


@pytest.mark.slow
def test_facts_beside_a_table_or_above_it_hold_for_its_test_set_and_may_change(tmp_path: Path) -> None:
    folder, changed = _own_tables(tmp_path / "mine"), _FACTS.replace("refB", "refC").replace("2025\n", "2024\n")
    for name, text, year, reference in (
        ("beside", _FACTS, 2025, "refB"),
        ("beside", changed, 2024, "refC"),
        ("above", changed, 2024, "refC"),
    ):
        database = tmp_path / f"{name}.duckdb"
        if name == "above":
            (folder / "en-de").mkdir()
            (folder / "scores.csv").rename(folder / "en-de" / "scores.csv")
        (folder / "testset.toml").write_text(text)
        report = load([folder], database, given=LoadHints(testset="mine25", lp="en-de"))
        assert report.is_clean, report.faults
        assert ask(database, _STANDARDS) == [(year, reference, "mqm")]
        assert ask(database, "SELECT DISTINCT metric, status FROM metrics") == [(f"Ours-{reference}", "primary")]


@pytest.mark.slow
def test_facts_of_another_test_set_beside_a_table_are_noted_and_faulty_ones_refused(tmp_path: Path) -> None:
    folder = _own_tables(tmp_path / "mine")
    report = load([folder], tmp_path / "w.duckdb", given=LoadHints(testset="mine24", lp="en-de"))
    assert report.is_clean
    assert (
        f"{folder / 'testset.toml'} describes mine25; it is not applied to mine24, whose files are next to it"
        in report.notes
    )
    (folder / "testset.toml").write_text("name = 'mine25'\nyears = 2024\n")
    report = load([folder], tmp_path / "x.duckdb", given=LoadHints(testset="mine25", lp="en-de"))
    (fault,) = report.faults
    assert fault.found.startswith("years: unknown key")


def test_a_metric_of_a_table_with_a_gap_is_noted_but_not_a_human_score(tmp_path: Path) -> None:
    rows = [
        f"{system},{at},{'' if (system, at) == ('A', 2) else at / 10},{at if at < 3 else ''}"
        for system in "AB"
        for at in (1, 2, 3)
    ]
    (tmp_path / "own.csv").write_text("\n".join(["system,segment,MetA,mqm", *rows]) + "\n")
    report = load([tmp_path / "own.csv"], tmp_path / "w.duckdb", given=LoadHints(testset="mine25", lp="en-de"))
    gap = (
        "MetA-ref: 1 of 6 segment scores are missing; "
        f"rankings that need any of these exclude the metric (`scorehouse {option('rank.intersection', True)}` does "
        "not)"
    )
    assert report.notes == [gap]
