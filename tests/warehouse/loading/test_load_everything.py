"""All real score files in one load: nothing is lost on the way, and what must meet meets."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.main import exit_code
from tests.helpers import rank, real_data
from warehouse import LoadReport, Warehouse, load


@pytest.fixture(scope="module")
def everything(real_load: tuple[Path, LoadReport]) -> tuple[Path, Path, LoadReport]:
    """Folder of the real files, the warehouse that they make, and the report of the load."""
    return real_data(), *real_load


@pytest.fixture(scope="module")
def warehouse(everything: tuple[Path, Path, LoadReport]) -> Iterator[Warehouse]:
    with Warehouse.open(everything[1]) as warehouse:
        yield warehouse


def test_everything_is_loaded_and_what_is_skipped_has_its_reason(everything: tuple[Path, Path, LoadReport]) -> None:
    _, _, report = everything
    assert report.faults == []
    assert {item.status for item in report.evalsets} == {"loaded"}
    assert sorted((Path(path).name, reason) for path, reason in report.skipped) == [
        ("README.md", "not a known score format: text without columns"),
        ("header.DocLvl.csv", "column names only; the judgements are in other files"),
        ("header.SegLvl.csv", "column names only; the judgements are in other files"),
    ]


def test_no_segment_and_no_score_of_one_has_two_rows(warehouse: Warehouse) -> None:
    for view, key in (("segments", "segment"), ("scores", "metric, system, segment"), ("humans", "human")):
        query = f"SELECT testset, lp, {key}, count(*) AS n FROM {view} GROUP BY ALL HAVING n > 1 LIMIT 3"
        assert warehouse.sql(query).rows() == [], view


def test_a_second_load_changes_nothing(everything: tuple[Path, Path, LoadReport]) -> None:
    data, database, _ = everything
    before = database.stat().st_mtime_ns
    report = load([data], database)
    assert report.is_clean
    assert {item.status for item in report.evalsets} == {"unchanged"}
    assert database.stat().st_mtime_ns == before


def _lines(path: Path) -> list[str]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return data.decode("utf-8-sig").split("\n")[: -1 if data.endswith(b"\n") else None]


def _n_rows(path: Path) -> int:
    """How many rows a file must bring, counted without the readers."""
    name, lines = path.name, _lines(path)
    if name.startswith("ad-"):
        return 2 * (len(lines) - 1)  # raw and standardised
    if "nohy" in name:
        return sum(len(line.split()) - 2 for line in lines[1:])
    if name.endswith(".avg_seg_scores.tsv") or "mt-systems" in name or name == "automatic-scores.tsv":
        return len(lines) - 1
    if name == "mqm_ted_ende.tsv":  # one judgement an annotator, system and segment
        return len({(cells[0], cells[3], cells[4]) for cells in (line.split("\t") for line in lines[1:])})
    if path.suffix == ".jsonl":
        scores = (json.loads(line)["metric_scores"] for line in lines)
        return sum(len(values) for metrics in scores for values in metrics.values())
    return len(lines)


def test_every_file_brings_the_rows_that_it_has(
    everything: tuple[Path, Path, LoadReport], warehouse: Warehouse
) -> None:
    data, _, _ = everything
    loaded: Counter[str] = Counter()
    for path, n_rows in warehouse.rows("SELECT path, n_rows FROM source WHERE reader <> 'mtme/1'"):
        loaded[str(path)] += n_rows
    files = [path for path in data.rglob("*") if path.is_file() and "mt-metrics-eval-v2" not in path.parts]
    passed_over = ("README.md", "header.DocLvl.csv", "header.SegLvl.csv")
    assert dict(loaded) == {str(path): _n_rows(path) for path in files if path.name not in passed_over}


def test_judged_cells_of_wmt20_meet_the_metrics(warehouse: Warehouse) -> None:
    """Direct assessments name documents, some metric files other spellings of systems; none may be lost."""
    found = warehouse.rows(
        """
        SELECT h.lp, y.kind, count(*), count(s.n)
        FROM human_scores AS h
        JOIN systems AS y USING (testset, lp, system)
        LEFT JOIN (
          SELECT testset, lp, system, segment, count(*) AS n
          FROM scores
          WHERE testset = 'wmt20' AND value IS NOT NULL
          GROUP BY ALL
        ) AS s USING (testset, lp, system, segment)
        WHERE h.testset = 'wmt20' AND h.human = 'wmt-raw' AND h.lp IN ('en-de', 'en-cs')
        GROUP BY ALL
        ORDER BY ALL
        """
    )
    assert found == [
        ("en-cs", "human", 1163, 1163),
        ("en-cs", "mt", 14577, 14577),
        ("en-de", "human", 1630, 1630),
        ("en-de", "mt", 9730, 9730),
    ]
    humans = "SELECT DISTINCT rule FROM system_spelling WHERE spelling LIKE 'HUMAN%'"
    assert warehouse.rows(humans) == [("declared alias",)]


WMT19 = {
    "BLEU": 0.906,
    "CharacTER": 0.942,
    "EED": 0.951,
    "NIST": 0.860,
    "TER": 0.922,
    "WER": 0.917,
    "BEER": 0.942,
    "YiSi-1": 0.967,
    "chrF": 0.947,
}
WMT20 = {
    "BLEU": 0.839,
    "CharacTER": 0.875,
    "EED": 0.889,
    "TER": 0.716,
    "COMET": 0.856,
    "esim": 0.905,
    "prism": 0.849,
    "YiSi-1": 0.895,
    "chrF": 0.870,
}


@pytest.mark.parametrize(("testset", "expected", "n_systems"), [("wmt19", WMT19, 225), ("wmt20", WMT20, 211)])
def test_pooled_correlations_are_the_published_ones(
    testset: str,
    expected: dict[str, float],
    n_systems: int,
    everything: tuple[Path, Path, LoadReport],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Weighted mean of the correlations of all language pairs, Hunter and Schmidt's."""
    asked = ("rank", testset, "all", "-m", "pearson", "--pool", "hunter-schmidt", "--with-outliers", "--format", "json")
    assert exit_code(["--db", str(everything[1]), *asked]) == 0
    found = {row["base_metric"]: row for row in json.loads(capsys.readouterr().out)}
    assert {name: round(found[name]["value"], 3) for name in expected} == expected
    assert {found[name]["n_systems"] for name in expected} == {n_systems}


def test_rankings_of_wmt23_are_those_of_its_folder_alone(warehouse: Warehouse, wmt23_warehouse: Warehouse) -> None:
    for lp in ("en-de", "he-en"):
        measures = ["spa", "pearson", "acc_eq(by=item)", "pearson(by=none)"]
        assert rank(warehouse, "wmt23", lp, measures).equals(rank(wmt23_warehouse, "wmt23", lp, measures))
