"""Metrics of one's own are used without being asked for where there are no others."""

from pathlib import Path

import metaeval
from tests.helpers import LP, TESTSET, tiny_layout
from tests.metaeval.span_outputs import Outputs, span, warehouse_of
from warehouse import Warehouse, load
from warehouse.own.scores import add
from warehouse.readers.claims import LoadHints

SPANS = "system,segment,start,end,severity\nA,1,0,10,minor\nA,2,,,no-error\nB,1,0,4,major\nB,2,,,no-error\n"
GOLD: Outputs = {("A", 1): [span(0, 10)], ("B", 1): [span(0, 4, "major")], ("A", 2): [], ("B", 2): []}


def test_where_all_metrics_are_one_s_own_they_are_ranked_and_one_note_says_so(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    assert load([tiny_layout(tmp_path / "in", metrics={})], database).is_clean
    rows = [f"{system},{segment},{segment / 10}" for system in ("Ash", "Beech", "Cherry") for segment in range(1, 6)]
    (tmp_path / "mine.csv").write_text("\n".join(["system,segment,score", *rows, ""]))
    assert add([tmp_path / "mine.csv"], database, "Mine", reference="refA", testset=TESTSET, lp=LP).is_clean
    with Warehouse.open(database) as warehouse:
        answer = metaeval.rank(warehouse, TESTSET, LP, "pearson")
        assert answer.frame["metric"].to_list() == ["Mine-refA"]
        assert [str(note) for note in answer.notes if "own" in str(note)] == [
            "your own (there are no others): Mine-refA"
        ]


def test_where_only_one_s_own_metrics_have_spans_they_are_used(tmp_path: Path) -> None:
    with warehouse_of(tmp_path, GOLD, {}) as warehouse:
        database = warehouse.path
    for name, rows in (("Scores", "system,segment,score\nA,1,1\nA,2,2\nB,1,3\nB,2,4\n"), ("Mine", SPANS)):
        (tmp_path / f"{name}.csv").write_text(rows)
        report = (
            add([tmp_path / "Mine.csv"], database, "Mine", testset="t24", lp="en-de")
            if name == "Mine"
            else load([tmp_path / "Scores.csv"], database, given=LoadHints("t24", "en-de", metric="Scores"))
        )
        assert report.is_clean, report.faults
    with Warehouse.open(database) as warehouse:
        for answer in (metaeval.spans(warehouse, "t24", "en-de"), metaeval.rank(warehouse, "t24", "en-de", "mpp")):
            assert answer.frame["metric"].to_list() == ["Mine-src"]
            found = [str(note) for note in answer.notes if "own" in str(note)]
            assert found == ["your own (no others have error spans): Mine-src"]
