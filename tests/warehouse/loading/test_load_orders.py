"""Sources of one evaluation set that come in several loads: in whatever order, the warehouse is the same."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.helpers import real_data
from warehouse import Warehouse, load, unload
from warehouse.export.mtme import ScoreTable, write_evalset
from warehouse.own.scores import add
from warehouse.readers.claims import LoadHints

_QUESTIONS = {
    "scores": "SELECT testset, lp, domain, document, segment, system, metric, value FROM scores",
    "human scores": "SELECT testset, lp, domain, document, segment, system, human, value FROM human_scores",
    "system scores": "SELECT * EXCLUDE (mean) FROM system_scores",  # means are sums in any order, to the last digit
    "segments": "SELECT * FROM segments",
    "systems": "SELECT * FROM systems",
    "metrics": "SELECT testset, lp, metric, status, is_own FROM metrics",
    "spellings": """
        SELECT e.lp, y.name, x.spelling, x.rule
        FROM system_spelling AS x
        JOIN system AS y ON y.system_id = x.system_id
        JOIN evalset AS e ON e.evalset_id = y.evalset_id
        """,
    "judgements": """
        SELECT e.lp, y.name, sc.name AS scorer, j.* EXCLUDE (judgement_id, vector_id)
        FROM judgement AS j
        JOIN vector AS v ON v.vector_id = j.vector_id
        JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
        JOIN system AS y ON y.system_id = v.system_id
        JOIN evalset AS e ON e.evalset_id = v.evalset_id
        """,
}


def contents(database: Path, *parts: str) -> dict[str, pl.DataFrame]:
    """All that a warehouse holds, in names; or these parts of it."""
    with Warehouse.open(database) as warehouse:
        frames = {name: warehouse.sql(_QUESTIONS[name]) for name in parts or _QUESTIONS}
    return {name: frame.sort(frame.columns) for name, frame in frames.items()}


def assert_that_the_order_does_not_matter(
    parts: list[list[Path]], folder: Path, orders: Sequence[tuple[int, ...]] = ()
) -> dict[str, pl.DataFrame]:
    """Load the parts together, and one after the other in some orders; in every order unless some are named."""
    folder.mkdir(exist_ok=True)
    report = load([path for part in parts for path in part], folder / "together.duckdb")
    assert report.is_clean, report.faults
    expected = contents(folder / "together.duckdb")
    for order in orders or itertools.permutations(range(len(parts))):
        database = folder / f"{order}.duckdb"
        for number in order:
            report = load(parts[number], database)
            assert report.is_clean, (order, number, report.faults)
        for name, frame in contents(database).items():
            assert frame.equals(expected[name]), (order, name)
    return expected


def _table(path: Path, rows: list[str], lp: str = "en-de") -> Path:
    return _tables(path, {lp: rows})


def _tables(path: Path, rows: Mapping[str, Sequence[str]]) -> Path:
    """A table of several language pairs, with these rows."""
    lines = [f"lab,{lp},{row}\n" for lp, of_pair in rows.items() for row in of_pair]
    path.write_text("testset,lp,metric,system,seg,doc,index,score\n" + "".join(lines))
    return path


@pytest.mark.slow
def test_names_of_the_organisers_layout_stand_whenever_it_comes(tmp_path: Path) -> None:
    table = _table(tmp_path / "table.csv", ["P-src,A,,d,2,3", "P-src,A,,d,1,4"])
    table.write_text(table.read_text().replace("lab,", "t24,"))
    documents = [("news", "d"), ("news", "d")]
    write_evalset(
        tmp_path / "t24",
        "en-de",
        documents=documents,
        metrics={"M-src": ScoreTable(["A.1"], seg=np.array([[1.0, 2.0]]))},
    )
    found = assert_that_the_order_does_not_matter([[table], [tmp_path / "t24"]], tmp_path / "w")
    assert found["systems"]["system"].to_list() == ["A.1"]
    assert found["spellings"].rows() == [("en-de", "A.1", "A", "number at the end dropped")]
    assert found["scores"].select("metric", "segment", "value").sort("metric", "segment").rows() == [
        ("M-src", 1, 1.0),
        ("M-src", 2, 2.0),
        ("P-src", 1, 4.0),
        ("P-src", 2, 3.0),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("testset", "status"), [("wmt23", "baseline"), ("t24", None)])
def test_a_metric_that_one_file_submits_is_an_entry_whatever_others_are_loaded(
    testset: str, status: str | None, tmp_path: Path
) -> None:
    scores = ScoreTable(["A", "B"], seg=np.array([[1.0, 2.0], [2.0, 3.0]]))
    layout, automatic = tmp_path / testset, tmp_path / "automatic-scores.tsv"
    write_evalset(layout, "en-de", documents=[("news", "d")] * 2, metrics={"BLEU-refA": scores, "M-src": scores})
    rows = [f"en-de\t{system}\t1\tTrue\t{metric}-refA\t3\n" for metric in ("BLEU", "N") for system in "AB"]
    automatic.write_text("pair\tsystem\tid\tis_constrained\tmetric\tscore\n" + "".join(rows))
    metrics = "SELECT metric, status FROM metrics ORDER BY metric"
    others = [("M-src", status and "contrastive"), ("N-refA", "no entry")]
    for parts in ([[layout, automatic]], [[layout], [automatic]], [[automatic], [layout]]):
        database = tmp_path / f"{len(list(tmp_path.iterdir()))}.duckdb"
        for part in parts:
            report = load(part, database, given=LoadHints(testset=testset))
            assert report.is_clean, report.faults
        with Warehouse.open(database) as warehouse:
            assert warehouse.rows(metrics) == [("BLEU-refA", status), *others], parts
    unload(database, f"{testset}/metric-scores/en-de/BLEU-refA.seg.score")
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows(metrics) == [("BLEU-refA", "no entry"), *others]


@pytest.mark.slow
def test_segments_that_a_broken_file_named_too_stay_for_the_sound_one(tmp_path: Path) -> None:
    broken = _table(tmp_path / "a.csv", ["A-src,A,1,,,1e200", "A-src,A,2,,,1", "A-src,A,3,,,1"])
    sound = _table(tmp_path / "b.csv", ["B-src,A,1,,,1", "B-src,A,2,,,1"])
    database = tmp_path / "w.duckdb"
    report = load([broken, sound], database, skip_broken=True)
    assert [fault.path for fault in report.faults] == [str(broken)]
    found = contents(database, "segments", "scores")
    assert found["segments"]["segment"].to_list() == [1, 2]
    assert found["scores"].select("metric", "segment").rows() == [("B-src", 1), ("B-src", 2)]


@pytest.mark.slow
def test_real_judgements_metrics_and_annotations(in_full: bool, tmp_path: Path) -> None:
    data = real_data()
    parts = ["wmt21-news-systems/humaneval", "wmt21-news-systems/scores", "wmt-mqm-human-evaluation/newstest2021"]
    orders = [] if in_full else [(2, 1, 0)]
    assert_that_the_order_does_not_matter([[data / part] for part in parts], tmp_path / "21", orders)


@pytest.mark.long("all orders: 1 second")
def test_a_spelling_of_a_users_own_file_never_names_a_system(tmp_path: Path) -> None:
    """Not even in a later load, when it is one of the spellings that the warehouse has."""
    database = tmp_path / "w.duckdb"
    assert load([_table(tmp_path / "one.csv", ["P-src,Foo-A,1,,,3"])], database).is_clean
    own = tmp_path / "own.csv"
    own.write_text("testset,lp,system,seg,score\nlab,en-de,foo_a,1,5\n")
    assert add([own], database, "Mine").is_clean
    assert load([_table(tmp_path / "two.csv", ["Q-src,Bar,1,,,3"])], database).is_clean
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT system FROM systems ORDER BY ALL") == [("Bar",), ("Foo-A",)]


@pytest.mark.slow
def test_a_layout_that_tells_joined_names_apart_is_refused(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    for number, row in enumerate(["G-src,Foo.1,1,,,3", "H-src,Foo,1,,,4"]):
        table = _table(tmp_path / f"{number}.csv", [row])
        table.write_text(table.read_text().replace("lab,", "t24,"))
        assert load([table], database).is_clean
    scores = ScoreTable(["Foo", "Foo.1"], seg=np.array([[1.0], [2.0]]))
    write_evalset(tmp_path / "t24", "en-de", documents=[("news", "d")], metrics={"M-src": scores})
    (fault,) = load([tmp_path / "t24"], database).faults
    assert fault.path == str(tmp_path / "t24" / "metric-scores" / "en-de" / "M-src.seg.score")
    assert fault.found.startswith("Foo, Foo.1 beside the spellings of 'Foo'")


@pytest.mark.long("all orders: 1 second")
def test_a_file_that_checks_refuse_leaves_no_trace(tmp_path: Path) -> None:
    """It would have given the system a better name and the segment a line."""
    database = tmp_path / "w.duckdb"
    assert load([_table(tmp_path / "one.csv", ["M-src,Foo.1,,d,1,1"])], database).is_clean
    before = contents(database)
    broken = _table(tmp_path / "broken.csv", ["N-src,Foo,7,d,1,1e200"])
    sound = _table(tmp_path / "sound.csv", ["O-src,Bar,,d,1,3"])
    report = load([broken, sound], database, skip_broken=True)
    assert [fault.path for fault in report.faults] == [str(broken)]
    after = contents(database)
    assert after["segments"].equals(before["segments"])
    assert after["spellings"].is_empty()
    assert after["scores"].select("metric", "system", "segment", "value").sort("metric").rows() == [
        ("M-src", "Foo.1", 1, 1.0),
        ("O-src", "Bar", 1, 3.0),
    ]
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT status, count(*) FROM source GROUP BY ALL ORDER BY ALL") == [
            ("loaded", 2),
            ("refused", 1),
        ]


@pytest.mark.slow
def test_an_own_metric_names_segments_as_the_warehouse_shows_them(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    assert load([_table(tmp_path / "one.csv", ["M-src,A,,d,1,1", "M-src,A,,d,2,2"])], database).is_clean
    own = tmp_path / "own.csv"
    own.write_text("system,seg,score\nA,1,5\nA,2,6\n")
    assert add([own], database, "Mine", testset="lab", lp="en-de").is_clean
    found = contents(database, "scores")["scores"].select("metric", "document", "segment", "value").sort("value")
    assert found.rows() == [
        ("M-src", "d", 1, 1.0),
        ("M-src", "d", 2, 2.0),
        ("Mine-src", "d", 1, 5.0),
        ("Mine-src", "d", 2, 6.0),
    ]
    own.write_text("system,seg,score\nA,1,5\nA,3,6\n")
    (fault,) = add([own], database, "Mine", testset="lab", lp="en-de").faults
    assert (fault.line, fault.found) == (3, "segment 3")
