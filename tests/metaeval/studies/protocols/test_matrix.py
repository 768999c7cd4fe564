"""Every protocol on every test set: the same scores as one by one, winners, agreement of rules, carried thresholds."""

import shutil
from contextlib import nullcontext
from pathlib import Path

import polars as pl
import pytest

from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.run import Run
from metaeval.studies.protocols import protocol_named, protocols
from metaeval.studies.protocols.entry import Blocks, enter
from metaeval.studies.protocols.matrix import (
    Cell,
    agreement_frame,
    matrix,
    matrix_result,
    scored_cells,
    wide_winners,
    winners_frame,
)
from metaeval.studies.protocols.scoring import score
from metaeval.studies.protocols.tables import rank_correlation
from metaeval.studies.tables.carried import carried_thresholds
from queries.blocks import Block, fetch_block
from queries.selection import Selection, select
from queries.slices import Slice
from tests.helpers import MQM, SYSTEMS, metric_tables, mqm_table, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable, write_facts
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts

OPTIONS = Options()
LONG = "acc_eq(by=item)"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """wmt24 as in the tiny task, and wmt22 with people but no metric."""
    folder = tmp_path_factory.mktemp("matrix")
    layouts = [tiny_layout(folder / "a", testset="wmt24"), tiny_layout(folder / "b", testset="wmt22", metrics={})]
    with tiny_warehouse(folder, *layouts) as warehouse:
        return warehouse.path


@pytest.fixture(scope="module")
def found(tiny: Path) -> list[Cell]:
    return matrix(Run(lambda: Warehouse.open(tiny)), "all", OPTIONS)[0]


@pytest.mark.slow
def test_each_cell_is_the_protocol_on_the_test_set(tiny: Path, found: list[Cell]) -> None:
    assert [(cell.testset, cell.protocol) for cell in found] == [
        (testset, name) for testset in ("wmt22", "wmt24") for name in protocols()
    ]
    frame = winners_frame(found)
    assert frame.height == 2 * len(protocols())
    with Warehouse.open(tiny) as warehouse:
        for name in ("wmt14", "wmt23"):
            alone = score(enter(warehouse, protocol_named(name), "wmt24", options=OPTIONS), options=OPTIONS)
            row = frame.filter((pl.col("testset") == "wmt24") & (pl.col("protocol") == name)).row(0, named=True)
            assert row["overall"] == alone.overall[0]
            assert row["winner"].split(", ")[0] == alone.metrics[0]
            own = next(cell.score for cell in scored_cells(found, "wmt24") if cell.protocol == "wmt24")
            assert own is not None
            assert (row["kendall"], row["n_common"]) == (
                rank_correlation(alone, own)[0],
                rank_correlation(alone, own)[2],
            )


@pytest.mark.slow
def test_protocols_share_the_blocks_of_a_test_set(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetched(warehouse: Warehouse, selection: Selection) -> Block:
        asked.append((selection.slice, selection.human))
        return fetch_block(warehouse, selection)

    monkeypatch.setattr("metaeval.results.inputs.fetch_block", fetched)
    matrix(Run(lambda: Warehouse.open(tiny)), "wmt24", OPTIONS)
    assert len(asked) == len(set(asked)) >= 3


def test_a_block_that_is_not_there_is_looked_for_once(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        "metaeval.results.inputs.select", lambda *given, **more: asked.append(given) or select(*given, **more)
    )
    with Warehouse.open(tiny) as warehouse:
        blocks = Blocks(warehouse, OPTIONS)
        for _ in range(2):
            with pytest.raises(QuestionError, match="'nobody'"):
                blocks.block(parse_measure("pa"), Slice("wmt24", "en-de", human="nobody"))
    assert len(asked) == 1


def test_rules_agree_with_themselves_and_every_empty_cell_says_why(found: list[Cell]) -> None:
    frame = winners_frame(found)
    own = frame.filter((pl.col("testset") == "wmt24") & (pl.col("protocol") == "wmt24")).row(0, named=True)
    assert own["kendall"] == pytest.approx(1.0)
    without = frame.filter(pl.col("winner").is_null())
    assert set(without["testset"]) >= {"wmt22"}
    assert without["reason"].null_count() == 0
    assert "no language pair has human and metric scores" in without["reason"].to_list()
    table = matrix_result(found, frame, "matrix", OPTIONS)
    assert "wmt22 has no scores: no language pair has human and metric scores" in table.notes
    assert table.signature.startswith("protocols:matrix|testset:wmt24|")
    wide = wide_winners(found)
    assert wide.columns == ["rules of", "wmt24"]
    assert wide["rules of"].to_list() == list(protocols())


def test_agreement_has_every_two_protocols_of_a_test_set(found: list[Cell]) -> None:
    n = len(scored_cells(found, "wmt24"))
    frame = agreement_frame(found)
    assert frame.height == n * (n - 1) // 2
    same = frame.filter((pl.col("protocol") == "wmt24") & (pl.col("versus") == "wmt25")).row(0, named=True)
    assert same["kendall"] == pytest.approx(1.0)  # 2025 kept the rules of 2024


@pytest.mark.slow
def test_a_second_matrix_comes_from_the_store(tiny: Path, found: list[Cell], tmp_path: Path) -> None:
    database = Path(shutil.copy(tiny, tmp_path / "own.duckdb"))
    for _ in range(2):
        again, _ = matrix(Run(lambda: Warehouse.open(database), database), "wmt24", OPTIONS)
        assert winners_frame(again).equals(winners_frame(found).filter(pl.col("testset") == "wmt24"))
    with Warehouse.open(database) as warehouse:
        ((n,),) = warehouse.rows("SELECT count(*) FROM results WHERE kind = 'matrix' AND testset = 'wmt24'")
    assert n == len(protocols())
    with pytest.raises(QuestionError, match="unknown test set"):
        matrix(Run(lambda: Warehouse.open(database)), "wmt99x", OPTIONS)


def two_years(folder: Path) -> Path:
    """The tiny task in 2024, and a year before it with the same metrics, scaled by ten."""
    before = {
        name: ScoreTable(systems=one.systems, seg=None if one.seg is None else 10 * one.seg)
        for name, one in metric_tables().items()
        if name != "Only-src"
    }
    tiny_layout(folder / "a", testset="tiny24")
    root = tiny_layout(folder / "b", testset="tiny23", humans={"mqm": mqm_table()}, metrics=before)
    standard = EvalsetFacts(standard_reference="refA", standard_human={"seg": "mqm", "sys": "mqm"})
    names = frozenset({"Fine", "Rough", "Flat"})
    write_facts(root, TestsetFacts("tiny23", 2023, "Before", names, frozenset({"Flat"}), {"en-de": standard}))
    return folder


@pytest.mark.slow
def test_a_threshold_from_another_year_loses_what_a_naive_count_says(tmp_path: Path) -> None:
    folder = two_years(tmp_path)
    with tiny_warehouse(tmp_path, folder) as warehouse:
        frame = carried_thresholds(lambda: nullcontext(warehouse), "all", parse_measure(LONG), OPTIONS).frame
    row = {row["metric"]: row for row in frame.rows(named=True)}["Fine"]
    assert (row["testset_from"], row["testset"], row["same_protocol"]) == ("tiny23", "tiny24", True)
    assert row["epsilon_from"] == pytest.approx(10 * row["epsilon"])  # the metric's scale, then ten times as wide
    scores = metric_tables()["Fine-src"].seg
    assert scores is not None

    def naive(epsilon: float) -> float:
        shares = []
        for segment in (0, 1, 2, 4):
            right = pairs = 0
            for i in range(3):  # without the human reference
                for j in range(i + 1, 3):
                    human, metric = MQM[i][segment] - MQM[j][segment], scores[i][segment] - scores[j][segment]
                    pairs += 1
                    right += (abs(metric) <= epsilon) if human == 0 else (abs(metric) > epsilon and human * metric > 0)
            shares.append(right / pairs)
        return sum(shares) / len(shares)

    assert SYSTEMS[3] == "refA"
    assert row["value"] == pytest.approx(naive(row["epsilon"]))
    assert row["carried"] == pytest.approx(naive(row["epsilon_from"]))
    assert row["at_zero"] == pytest.approx(naive(0.0))
    assert row["loss"] == pytest.approx(row["value"] - row["carried"])
    assert row["loss"] >= 0


def test_thresholds_need_a_calibrated_measure_and_a_metric_that_returns(tmp_path: Path) -> None:
    with tiny_warehouse(tmp_path) as warehouse:
        opened = lambda: nullcontext(warehouse)  # noqa: E731
        with pytest.raises(QuestionError, match="no tie threshold to calibrate"):
            carried_thresholds(opened, "all", parse_measure("pa"), OPTIONS)
        with pytest.raises(QuestionError, match="returns in a later year"):
            carried_thresholds(opened, "all", parse_measure(LONG), OPTIONS)
