"""Files as the shared tasks publish them, of several formats in one folder, loaded into one evaluation set."""

import gzip
from pathlib import Path

import pytest

from warehouse import Given, Warehouse, load
from warehouse.wording import option

DETAILS = (("b.1", 1), ("b.1", 2), ("a.2", 1))
SYSTEMS = ("Huawei_TSC.1", "Online-A.2")


def _release(folder: Path) -> Path:
    """A release in small: segment details, segment and system scores of two metrics, and direct assessments."""
    root = folder / "wmt20-metrics"
    files = {
        "input/details/ps-en.txt": [
            f"{line}\tnewstest2020\tps-en\t{document}\t{index}"
            for line, (document, index) in enumerate(DETAILS, start=1)
        ],
        "final-metric-scores/submissions/chrF.seg.score.gz": [
            f"chrF\tps-en\tnewstest2020\tnewstest2020\t{system}\t{document}\t{index}\t0.{at}{line}"
            for at, system in enumerate(SYSTEMS, start=1)
            for line, (document, index) in reversed(list(enumerate(DETAILS, start=1)))
        ],
        "final-metric-scores/submissions/COMET-QE.sys.score.gz": [
            f"COMET-QE\tps-en\tnewstest2020\tnewstest2020\t{system}\t0.{at}"
            for at, system in enumerate(SYSTEMS, start=1)
        ],
        "manual-evaluation/DA/ad-seg-scores-ps-en.csv": [
            "SYS SID RAW.SCR Z.SCR N ",
            "Huawei-TSC.1 3 80 0.5 2 ",
            "Online-A.2 3 70 -0.5 1 ",
        ],
    }
    for name, lines in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = ("\n".join(lines) + "\n").encode()
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return root


def test_metric_and_human_scores_meet_in_the_segments_that_the_details_declare(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    report = load([_release(tmp_path)], database)
    assert not report.faults, report.faults
    with Warehouse.open(database) as warehouse:
        scores = warehouse.sql(
            """
            SELECT m.segment, m.document, m.system, m.metric, m.value AS metric_value, h.value AS human_value
            FROM scores AS m
            LEFT JOIN human_scores AS h ON h.testset = m.testset AND h.lp = m.lp AND h.system = m.system
              AND h.segment = m.segment AND h.human = 'wmt-raw'
            WHERE m.testset = 'wmt20' AND m.lp = 'ps-en'
            ORDER BY m.system, m.segment
            """
        )
        metrics = warehouse.sql("SELECT DISTINCT name FROM scorer WHERE kind = 'metric' ORDER BY name")
    huawei, online = sorted(scores["system"].unique())
    assert scores.select("segment", "document", "metric", "metric_value", "human_value").rows() == [
        (1, "b.1", "chrF-ref", 0.11, None),
        (2, "b.1", "chrF-ref", 0.12, None),
        (3, "a.2", "chrF-ref", 0.13, 80.0),
        (1, "b.1", "chrF-ref", 0.21, None),
        (2, "b.1", "chrF-ref", 0.22, None),
        (3, "a.2", "chrF-ref", 0.23, 70.0),
    ]
    assert (huawei[:6], online[:8]) == ("Huawei", "Online-A")
    assert metrics["name"].to_list() == ["COMET-QE-src", "chrF-ref"]


@pytest.mark.slow
def test_a_second_load_changes_nothing_and_a_spoiled_file_is_named(tmp_path: Path) -> None:
    database, root = tmp_path / "w.duckdb", _release(tmp_path)
    load([root], database)
    again = load([root], database)
    assert not again.faults
    assert [evalset.status for evalset in again.evalsets] == ["unchanged"]
    scored = root / "final-metric-scores" / "submissions" / "chrF.seg.score.gz"
    lines = gzip.decompress(scored.read_bytes()).decode().splitlines()
    scored.write_bytes(
        gzip.compress("\n".join([*lines[:2], lines[2].replace("b.1\t1", "b.1\t9"), *lines[3:], ""]).encode())
    )
    report = load([root], database)
    assert [(Path(fault.path).name, fault.line) for fault in report.faults] == [("chrF.seg.score.gz", 3)]


def test_a_table_of_a_metric_that_the_task_did_not_have_asks_for_add(tmp_path: Path) -> None:
    database, table = tmp_path / "w.duckdb", tmp_path / "mine.csv"
    header = "testset,lp,metric,system,seg,score\n"
    table.write_text(header + "".join(f"wmt23,en-de,{name},A,1,0.5\n" for name in ("BLEU", "Mine", "Other")))
    report = load([table], database)
    assert [(fault.line, fault.found) for fault in report.faults] == [
        (3, "metric 'Mine', which wmt23 did not have"),
        (4, "metric 'Other', which wmt23 did not have"),
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


@pytest.mark.parametrize("inside", ["", "en-de"])
def test_facts_beside_a_table_hold_for_its_test_set(tmp_path: Path, inside: str) -> None:
    folder = _own_tables(tmp_path / "mine")
    if inside:
        (folder / inside).mkdir()
        (folder / "scores.csv").rename(folder / inside / "scores.csv")
    database = tmp_path / "w.duckdb"
    report = load([folder], database, given=Given(testset="mine25", lp="en-de"))
    assert report.is_clean, report.faults
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows(_STANDARDS) == [(2025, "refB", "mqm")]
        assert warehouse.rows("SELECT DISTINCT metric, status FROM metrics") == [("Ours-refB", "primary")]


def test_changed_facts_change_what_the_same_table_means(tmp_path: Path) -> None:
    folder = _own_tables(tmp_path / "mine")
    database = tmp_path / "w.duckdb"
    for text in (_FACTS, _FACTS.replace("refB", "refC").replace("2025\n", "2024\n")):
        (folder / "testset.toml").write_text(text)
        assert load([folder], database, given=Given(testset="mine25", lp="en-de")).is_clean
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows(_STANDARDS) == [(2024, "refC", "mqm")]
        assert warehouse.rows("SELECT DISTINCT metric FROM metrics") == [("Ours-refC",)]


def test_facts_of_another_test_set_beside_a_table_are_noted_and_faulty_ones_refused(tmp_path: Path) -> None:
    folder = _own_tables(tmp_path / "mine")
    report = load([folder], tmp_path / "w.duckdb", given=Given(testset="mine24", lp="en-de"))
    assert report.is_clean
    assert f"{folder / 'testset.toml'}: of mine25; not applied to mine24, which is in files beside it" in report.notes
    (folder / "testset.toml").write_text("name = 'mine25'\nyears = 2024\n")
    report = load([folder], tmp_path / "x.duckdb", given=Given(testset="mine25", lp="en-de"))
    (fault,) = report.faults
    assert fault.found.startswith("unknown keys ['years']")


def test_a_metric_of_a_table_with_a_gap_is_noted_but_not_a_human_score(tmp_path: Path) -> None:
    rows = [
        f"{system},{at},{'' if (system, at) == ('A', 2) else at / 10},{at if at < 3 else ''}"
        for system in "AB"
        for at in (1, 2, 3)
    ]
    (tmp_path / "own.csv").write_text("\n".join(["system,segment,MetA,mqm", *rows]) + "\n")
    report = load([tmp_path / "own.csv"], tmp_path / "w.duckdb", given=Given(testset="mine25", lp="en-de"))
    gap = (
        "MetA-ref: 1 of 6 segment scores are missing; "
        f"rankings exclude it (`scorehouse {option('rank.intersection', True)}` does not)"
    )
    assert report.notes == [gap]
