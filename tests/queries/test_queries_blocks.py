"""Blocks: the one door from tables to arrays, in canonical order, missing as NaN."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from queries.blocks import Block, fetch_block, places_of
from queries.evalsets import together
from queries.reasons import Exclusion, Reason, some_missing
from queries.selection import select
from queries.slices import Slice
from tests.helpers import LP, MQM, NAN, SYSTEMS, TESTSET, metric_tables, tiny_layout, tiny_warehouse
from tests.warehouse.building import scores_of
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import ScoreTable
from warehouse.simulation.evalset import SimulatedEvalset


def _block(warehouse: Warehouse, testset: str = TESTSET, lp: str = LP, **asked: object) -> Block:
    return fetch_block(warehouse, select(warehouse, Slice(testset, lp, **asked)))  # type: ignore[arg-type]


def test_a_block_holds_the_scores_as_they_were_written(tiny: Warehouse) -> None:
    block = _block(tiny)
    assert block.systems == ("Ash", "Beech", "Cherry")
    assert block.segments.tolist() == [1, 2, 3, 4, 5]
    assert [metric.name for metric in block.metrics] == ["Fine-src", "Flat-src", "Only-src", "Rough-refA", "Wrong-src"]
    np.testing.assert_array_equal(block.human, np.array(MQM)[:3])
    tables = metric_tables()
    for metric, scores in zip(block.metrics, block.scores, strict=True):
        seg = tables[metric.name].seg
        expected = np.full((3, 5), NAN) if seg is None else np.asarray(seg)[:3]
        np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(block.human_submitted, np.nanmean(np.array(MQM)[:3], axis=1))
    np.testing.assert_array_equal(block.submitted[2], [0.7, 0.6, 0.2])


def test_a_block_is_the_same_in_however_many_pieces_it_is_read(
    tiny: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _block(tiny)
    monkeypatch.setattr("queries.blocks._KEPT", 0)
    for n_scores in (1, 31, 10**6):
        monkeypatch.setattr("queries.blocks._SCORES", n_scores)
        block = _block(tiny)
        np.testing.assert_array_equal(block.scores, whole.scores)
        np.testing.assert_array_equal(block.human, whole.human)


def test_what_was_read_for_one_slice_serves_another_with_other_systems_and_metrics(
    tiny: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = _block(tiny, metrics=("Rough",), systems=("Ash", "Cherry"))
    whole = _block(tiny)
    monkeypatch.setattr("queries.blocks._read_scores", lambda *_: np.empty((0, 0, 0)))
    again = _block(tiny, metrics=("Rough",), systems=("Ash", "Cherry"))
    taken = whole.take(systems=[0, 2], metrics=[metric.name == "Rough-refA" for metric in whole.metrics])
    for other in (again, taken):
        np.testing.assert_array_equal(other.scores, few.scores)
        np.testing.assert_array_equal(other.human, few.human)


def test_what_was_computed_on_a_block_is_kept_for_all_its_metrics_and_for_no_part(tiny: Warehouse) -> None:
    block = _block(tiny)
    assert block.once("n", lambda: len(block.metrics)) == 5
    assert block.take(metrics=[True] * 5) is block
    assert block.once("n", lambda: 0) == 5
    for part in (block.take(metrics=[0]), block.take(metrics=[4, 3, 2, 1, 0]), block.take(systems=[0, 1, 2])):
        assert part.once("n", lambda: 1) == 1


def test_kept_answers_are_forgotten_by_their_size_also_if_they_grew_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warehouse.database.connection._MOST_BYTES", 1000)
    with tiny_warehouse(tmp_path) as warehouse:
        first: dict[str, object] = warehouse.once("grows", dict)
        warehouse.once("other", lambda: [1])
        first["array"] = np.zeros(1000)
        for number in range(2):
            warehouse.once(number, lambda: [1])
        assert warehouse.once("grows", dict) == {}


def test_named_scores_are_found_in_a_block(tiny: Warehouse) -> None:
    block = _block(tiny, segments="2-4")
    asked = [("Cherry", 3), ("Ash", 2), ("Ash", 2), ("Ash", 1), ("Oak", 2)]
    places = places_of(block, *zip(*asked, strict=True))
    assert places.tolist() == [7, 0, 0, -1, -1]
    assert block.human.ravel()[places[:2]].tolist() == [MQM[2][2], MQM[0][1]]
    assert places_of(block, [], []).tolist() == []


def test_what_nobody_judged_is_missing(tiny: Warehouse) -> None:
    block = _block(tiny)
    assert block.n_missing == 3
    np.testing.assert_array_equal(block.judged, ~np.isnan(np.array(MQM)[:3]))
    assert not block.judged[:, 3].any()


def test_metrics_without_segments_are_named_and_left_behind(tiny: Warehouse) -> None:
    block = _block(tiny)
    assert block.excluded == {"Only-src": Exclusion(Reason.NO_SEGMENT_SCORES)}
    kept = block.take(metrics=block.with_segments)
    assert [metric.name for metric in kept.metrics] == ["Fine-src", "Flat-src", "Rough-refA", "Wrong-src"]
    assert kept.scores.shape == (4, 3, 5)
    assert kept.submitted.shape == (4, 3)
    assert not np.isnan(kept.scores).any()


def test_a_part_of_a_test_set_has_no_submitted_scores(tiny: Warehouse) -> None:
    block = _block(tiny, domain=("news",))
    assert block.segments.tolist() == [1, 2, 3]
    assert np.isnan(block.submitted).all()
    assert np.isnan(block.human_submitted).all()


@pytest.mark.slow
@pytest.mark.parametrize("order", [SYSTEMS[::-1], SYSTEMS[2:] + SYSTEMS[:2], SYSTEMS[1::2] + SYSTEMS[::2]])
def test_the_order_of_systems_in_the_files_plays_no_part(order: tuple[str, ...], tmp_path: Path) -> None:
    def reordered(table: ScoreTable) -> ScoreTable:
        rows = [table.systems.index(system) for system in order if system in table.systems]
        return ScoreTable(
            systems=tuple(table.systems[row] for row in rows),
            seg=None if table.seg is None else np.asarray(table.seg)[rows],
            sys=None if table.sys is None else np.asarray(table.sys)[rows],
        )

    tables: Mapping[str, ScoreTable] = {name: reordered(table) for name, table in metric_tables().items()}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        block = _block(warehouse)
    assert block.systems == ("Ash", "Beech", "Cherry")
    np.testing.assert_array_equal(block.scores[0], np.asarray(metric_tables()["Fine-src"].seg)[:3])


@pytest.mark.slow
def test_a_metric_with_holes_is_left_out_unless_the_intersection_is_asked_for(tmp_path: Path) -> None:
    holes = np.array(metric_tables()["Fine-src"].seg)
    holes[0, 0] = holes[1, 2] = NAN
    tables = {**metric_tables(), "Holes-src": ScoreTable(systems=SYSTEMS, seg=holes)}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        block = _block(warehouse, metrics=("Fine", "Holes"))
        assert block.excluded["Holes-src"] == some_missing(2)
        common = _block(warehouse, metrics=("Fine", "Holes"), intersection=True)
    expected = np.array(MQM)[:3]
    expected[0, 0] = expected[1, 2] = NAN
    np.testing.assert_array_equal(common.human, expected)
    assert common.excluded == {}
    assert common.n_missing == 5
    assert np.isnan(common.human_submitted).all()
    assert np.isnan(common.submitted).all()


@pytest.mark.slow
def test_a_hole_where_nobody_judged_does_no_harm(tmp_path: Path) -> None:
    holes = np.array(metric_tables()["Fine-src"].seg)
    holes[:, 3] = NAN
    tables = {"Holes-src": ScoreTable(systems=SYSTEMS, seg=holes)}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        assert _block(warehouse).excluded == {}


@pytest.mark.slow
def test_the_intersection_leaves_out_systems_that_a_metric_lacks(tmp_path: Path) -> None:
    part = ScoreTable(systems=("Ash", "Cherry"), seg=np.arange(10.0).reshape(2, 5))
    tables = {**metric_tables(), "Part-src": part}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse:
        block = _block(warehouse, metrics=("Fine", "Part"), intersection=True)
    assert block.systems == ("Ash", "Cherry")
    assert block.scores.shape == (2, 2, 5)
    assert not np.isnan(block.human_submitted).any()  # nothing was taken from these two


@pytest.mark.slow
def test_an_empty_intersection_is_refused(tmp_path: Path) -> None:
    tables = {
        "One-src": ScoreTable(systems=("Ash",), seg=np.zeros((1, 5))),
        "Two-src": ScoreTable(systems=("Beech",), seg=np.zeros((1, 5))),
    }
    with (
        tiny_warehouse(tmp_path, tiny_layout(tmp_path / "layout", metrics=tables)) as warehouse,
        pytest.raises(QuestionError, match="the intersection is empty"),
    ):
        _block(warehouse, intersection=True)


@pytest.mark.slow
def test_blocks_of_the_simulated_task_are_what_was_simulated(
    simulated_warehouse: Warehouse, simulated_task: tuple[SimulatedEvalset, ...]
) -> None:
    for evalset in simulated_task:
        block = _block(simulated_warehouse, evalset.testset, evalset.lp)
        rows = [evalset.systems.index(system) for system in block.systems]
        np.testing.assert_array_equal(block.human, scores_of(evalset, evalset.humans[block.selection.human])[rows])
        for metric, scores in zip(block.metrics, block.scores, strict=True):
            np.testing.assert_array_equal(scores, scores_of(evalset, evalset.metrics[metric.name])[rows])


@pytest.mark.parametrize(("lp", "n_systems", "n_judged"), [("en-de", 12, 460), ("he-en", 13, 820)])
def test_real_blocks_have_the_published_shape(
    lp: str, n_systems: int, n_judged: int, wmt23_warehouse: Warehouse
) -> None:
    block = _block(wmt23_warehouse, "wmt23", lp)
    assert len(block.systems) == n_systems
    assert block.judged.all(axis=0).sum() == block.judged.any(axis=0).sum() == n_judged
    assert not np.isnan(block.take(metrics=block.with_segments).scores[:, block.judged]).any()


def test_a_block_is_the_same_whether_its_evaluation_set_is_read_alone_or_with_its_neighbours(
    simulated_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queries.evalsets._TOGETHER", 10**7)
    places = simulated_warehouse.rows("SELECT testset, lp FROM evalsets ORDER BY ALL")
    assert len(places) > 3
    read_together = Warehouse.open(simulated_warehouse.path)
    for testset, lp in (*places, *reversed(places)):
        for asked in (Slice(testset, lp), Slice(testset, lp, systems=("*a*",), segments="2-9", status="all")):
            with Warehouse.open(simulated_warehouse.path) as warehouse:
                alone = _outcome(warehouse, asked)
            assert _outcome(read_together, asked) == alone
    assert len(together(read_together, 2)) == len(places)
    read_together.close()


def _outcome(warehouse: Warehouse, asked: Slice) -> object:
    try:
        block = fetch_block(warehouse, select(warehouse, asked))
    except QuestionError as error:
        return str(error)
    return block.selection, [array.tobytes() for array in (block.human, block.scores, block.submitted)]
