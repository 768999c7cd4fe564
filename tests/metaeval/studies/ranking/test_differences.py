"""Rankings of two warehouses: those of `rank` on each, and only where something they stand on differs."""

import shutil
from pathlib import Path

import duckdb
import pytest

import metaeval
from metaeval.measures.registry import parse_measure
from metaeval.studies.ranking.differences import warehouse_differences
from tests.helpers import LP, TESTSET, tiny_bytes
from tests.sharing import written
from warehouse import Warehouse

PEARSON = parse_measure("pearson")
OF_ROUGH = (
    "(SELECT vector_id FROM vector JOIN scorer USING (scorer_id) WHERE scorer.name = 'Rough-refA' AND level = 'sys')"
)


def altered(folder: Path, *statements: str) -> Path:
    path = written(folder / "after.duckdb", tiny_bytes())
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET search_path = 'internal'")
        for one in statements:
            connection.execute(one)
    return path


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return written(tmp_path / "before.duckdb", tiny_bytes())


@pytest.mark.slow
def test_metrics_whose_value_or_rank_differs_are_those_of_rank_largest_difference_first(
    before: Path, tmp_path: Path
) -> None:
    after = altered(tmp_path, f"UPDATE aggregate_score SET value = -value WHERE vector_id IN {OF_ROUGH}")
    with Warehouse.open(before) as old, Warehouse.open(after) as new:
        found = warehouse_differences(old, new, [PEARSON])
        ranks = [
            {row["metric"]: row for row in metaeval.rank(one, TESTSET, LP, "pearson").frame.rows(named=True)}
            for one in (old, new)
        ]
    assert ("n_ranked", 1) in found.parts
    expected = [
        (
            *(TESTSET, LP, "pearson", name),
            *(side[name]["value"] for side in ranks),
            *(side[name]["rank"] for side in ranks),
        )
        for name in ranks[0]
        if any(ranks[0][name][column] != ranks[1][name][column] for column in ("value", "rank"))
    ]
    assert "Rough-refA" in {row[3] for row in expected}
    assert sorted(found.facts["rankings"].rows()) == sorted(expected)
    assert found.facts["rankings"].row(0)[3] == "Rough-refA"
    assert found.facts["rankings"].row(0)[4] == -found.facts["rankings"].row(0)[5]
    rows = found.frame.filter(what="ranking by pearson").rows(named=True)
    assert rows[0]["difference"] == found.facts["rankings"].row(0)[5] - found.facts["rankings"].row(0)[4]
    assert rows[0]["detail"] == f"rank {expected_rank(ranks[0])} → rank {expected_rank(ranks[1])}"


def expected_rank(ranking: dict[str, dict[str, object]]) -> object:
    return ranking["Rough-refA"]["rank"]


@pytest.mark.slow
def test_a_metric_that_is_ranked_in_one_alone_and_a_ranking_that_is_no_longer_there_are_told(
    before: Path, tmp_path: Path
) -> None:
    unscored = altered(tmp_path, f"UPDATE aggregate_score SET value = NULL WHERE vector_id IN {OF_ROUGH}")
    with Warehouse.open(before) as old, Warehouse.open(unscored) as new:
        found = metaeval.diff(new, old.path, measures="pearson").frame
    of_rough = found.filter(what="system scores").row(0, named=True)
    assert (of_rough["added"], of_rough["gone"], of_rough["changed"]) == (0, 3, 0)
    shutil.copy(before, tmp_path / "unjudged.duckdb")
    with duckdb.connect(str(tmp_path / "unjudged.duckdb")) as connection:
        connection.execute("UPDATE internal.evalset SET standard_human_sys = 'none', standard_human_seg = 'none'")
        connection.execute("UPDATE internal.scorer SET name = 'another' WHERE name = 'mqm'")
    with Warehouse.open(before) as old, Warehouse.open(tmp_path / "unjudged.duckdb") as new:
        told = metaeval.diff(new, old.path, measures="pearson", testset=TESTSET, lp=LP)
    assert all(row["after"] is None for row in told.frame.filter(what="ranking by pearson").rows(named=True))
    assert told.frame.filter(what="humans").row(0, named=True)["added"] == 1


@pytest.mark.slow
def test_rankings_are_not_computed_where_nothing_they_stand_on_differs(before: Path, tmp_path: Path) -> None:
    after = altered(tmp_path, "UPDATE segment_text SET text = 'x' WHERE segment = 1")
    with Warehouse.open(before) as old, Warehouse.open(after) as new:
        found = warehouse_differences(old, new, [PEARSON])
        assert (found.facts["is_equal"], found.facts["rankings"].height) == (False, 0)
        assert ("n_ranked", 0) in found.parts
        assert warehouse_differences(old, new, [], testset=TESTSET).signature.startswith(f"diff:{TESTSET}|scorehouse:")
        counted, each = (metaeval.diff(new, old.path, no_rankings=True, verbose=each).frame for each in (False, True))
    assert counted.select("what", "name", "changed").rows() == [("texts", None, 5)]
    assert each["changed"].to_list() == [1] * 5
    assert counted.columns == each.columns
