"""A user's own metric: what is checked when it comes in, and that nothing of it stays when it goes."""

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from metaeval.measures.options import Options
from metaeval.measures.registry import parse_measure
from metaeval.results.study import study
from queries.slices import Slice
from tests import sharing
from tests.helpers import LP, SYSTEMS, TESTSET, rank, tiny_bytes, tiny_layout, together
from tests.warehouse.readers.reading import read_own, told
from warehouse import QuestionError, Warehouse, load, unload
from warehouse.own.scores import add, check_spelling
from warehouse.wording import option

VALUES = {"Ash": (1, 2, 3, 4, 5), "Beech": (2, 2, 2, 2, 2), "Cherry": (0, 0, 1, 0, 0)}
_TABLES = ("vector", "score", "aggregate_score", "scorer", "entry", "source", "metric_fact", "system", "segment")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return sharing.written(tmp_path / "scores.duckdb", tiny_bytes())


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny task's warehouse without anything of the user's; read it only."""
    return sharing.written(tmp_path_factory.mktemp("original") / "scores.duckdb", tiny_bytes())


@pytest.fixture(scope="module")
def at_first(original: Path) -> dict[str, list[tuple[object, ...]]]:
    return content(original)


@pytest.fixture(scope="module")
def with_both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with two variants of one metric, which saw refA and no reference; read it only."""
    folder = tmp_path_factory.mktemp("both")
    database = sharing.written(folder / "scores.duckdb", tiny_bytes())
    own = written(folder / "mine.seg.score", blocks())
    for reference in ("refA", None):
        report = add([own], database, "Mine", reference=reference, testset=TESTSET, lp=LP)
        assert report.is_clean, report.faults
    return database


def written(path: Path, rows: Sequence[str]) -> Path:
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def blocks(values: dict[str, tuple[int, ...]] = VALUES) -> list[str]:
    return [f"{system}\t{value}" for system, scores in values.items() for value in scores]


def content(database: Path) -> dict[str, list[tuple[object, ...]]]:
    with Warehouse.open(database) as warehouse:
        return {table: warehouse.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in _TABLES}


def test_own_scores_are_those_of_the_file_by_position(with_both: Path) -> None:
    with Warehouse.open(with_both) as warehouse:
        for name in ("Mine-refA", "Mine-src"):
            query = "SELECT system, segment, value FROM scores WHERE metric = $name ORDER BY ALL"
            assert warehouse.rows(query, {"name": name}) == [
                (system, segment, float(value))
                for system, values in VALUES.items()
                for segment, value in enumerate(values, start=1)
            ]
            query = "SELECT status, is_own FROM metrics WHERE metric = $name"
            assert warehouse.rows(query, {"name": name}) == [("no entry", True)]


def test_rankings_have_own_metrics_on_demand_and_say_so(with_both: Path) -> None:
    with Warehouse.open(with_both) as warehouse:
        assert "Mine-refA" not in rank(warehouse, TESTSET, LP, ["acc23(by=item)"])["metric"].to_list()
        ranking = rank(warehouse, TESTSET, LP, ["acc23(by=item)"], user_metrics=True)
        assert "Mine-refA" in ranking["metric"].to_list()


@pytest.mark.slow
def test_removing_leaves_what_was_there_before(
    with_both: Path, at_first: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    database = sharing.written(tmp_path / "scores.duckdb", with_both.read_bytes())
    (removed,) = unload(database, "Mine")
    assert (removed.testset, removed.lp, removed.n_files, removed.n_scores) == (TESTSET, LP, 2, 30)
    assert not removed.is_gone
    assert content(database) == at_first
    with pytest.raises(QuestionError, match="unknown user metric, test set, source or loaded path 'Mine'"):
        unload(database, "Mine")


def test_one_variant_goes_and_the_other_stays(with_both: Path, tmp_path: Path) -> None:
    database = sharing.written(tmp_path / "scores.duckdb", with_both.read_bytes())
    unload(database, "Mine-src")
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT metric FROM metrics WHERE is_own") == [("Mine-refA",)]


@pytest.mark.slow
def test_one_variant_of_a_file_with_two_goes_alone(
    database: Path, at_first: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    rows = [f"{system},{n},{reference},1.5" for system in VALUES for n in range(1, 6) for reference in ("refA", "src")]
    own = written(tmp_path / "scores.csv", ["system,seg,reference,score", *rows])
    assert add([own], database, "Mine", testset=TESTSET, lp=LP).is_clean
    for variant, left in (("Mine-src", [("Mine-refA",)]), ("Mine-refA", [])):
        (removed,) = unload(database, variant)
        assert removed.n_scores == 15
        with Warehouse.open(database) as warehouse:
            assert warehouse.rows("SELECT metric FROM metrics WHERE is_own") == left
    assert content(database) == at_first


def test_nothing_is_removed_where_the_test_set_or_language_pair_is_unknown(with_both: Path) -> None:
    with pytest.raises(QuestionError, match="unknown test set 'tiny42' for Mine"):
        unload(with_both, "Mine", testset="tiny42")
    with pytest.raises(QuestionError, match="unknown language pair 'de-en' for tiny24"):
        unload(with_both, "Mine", "de-en", testset=TESTSET)


def test_official_metrics_cannot_be_removed(original: Path) -> None:
    with pytest.raises(QuestionError, match=r"unknown user metric, .* 'Rough'"):
        unload(original, "Rough")


def test_an_unknown_system_is_none_of_those_that_are_counted(database: Path, tmp_path: Path) -> None:
    own = written(
        tmp_path / "mine.seg.score", blocks({"Chery" if name == "Cherry" else name: VALUES[name] for name in VALUES})
    )
    report = add([own], database, "Mine", reference="refA", testset=TESTSET, lp=LP)
    assert [fault.found for fault in report.faults] == ["unknown system 'Chery' in 5 lines"]
    assert report.notes == ["Mine-refA: scores of 2 of 3 systems"]


@pytest.mark.slow
def test_the_same_file_again_is_no_news_and_a_changed_one_replaces_it(database: Path, tmp_path: Path) -> None:
    own = written(tmp_path / "mine.seg.score", blocks())
    given = {"reference": "refA", "testset": TESTSET, "lp": LP}
    add([own], database, "Mine", **given)  # type: ignore[arg-type]
    assert [item.status for item in add([own], database, "Mine", **given).evalsets] == ["unchanged"]  # type: ignore[arg-type]
    written(own, blocks({**VALUES, "Ash": (9, 9, 9, 9, 9)}))
    assert [item.status for item in add([own], database, "Mine", **given).evalsets] == ["replaced"]  # type: ignore[arg-type]
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT DISTINCT value FROM scores WHERE metric = 'Mine-refA' AND system = 'Ash'") == [
            (9.0,)
        ]


@pytest.mark.slow
def test_a_folder_brings_several_language_pairs(tmp_path: Path) -> None:
    tiny_layout(tmp_path)
    tiny_layout(tmp_path, lp="en-cs", facts=False)
    database = tmp_path / "scores.duckdb"
    assert load([tmp_path / TESTSET], database).is_clean
    (tmp_path / "own" / "en-cs").mkdir(parents=True)
    written(tmp_path / "own" / "en-cs" / "Mine.seg.score", blocks())
    written(tmp_path / "own" / "en-de.Mine.seg.score", blocks())
    written(tmp_path / "own" / "en-de.Mine.sys.score", [f"{system}\t1.5" for system in SYSTEMS])
    report = add([tmp_path / "own"], database, "Mine", reference="refA", testset=TESTSET)
    assert report.is_clean, report.faults
    assert [(item.lp, item.n_rows) for item in report.evalsets] == [("en-cs", 15), ("en-de", 19)]


@pytest.mark.slow
def test_a_table_with_named_columns(database: Path, tmp_path: Path) -> None:
    rows = [
        f"{system},{segment},{value}" for system, scores in VALUES.items() for segment, value in enumerate(scores, 1)
    ]
    own = written(tmp_path / "scores.csv", ["system,seg,score", *rows])
    report = add([own], database, "Mine", testset=TESTSET, lp=LP)
    assert report.is_clean, report.faults
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT count(*), sum(value) FROM scores WHERE metric = 'Mine-src'") == [(15, 26.0)]


@pytest.mark.slow
def test_a_packed_file_is_as_good(database: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.seg.score.gz").write_bytes(gzip.compress("".join(f"{row}\n" for row in blocks()).encode()))
    report = add([tmp_path / "mine.seg.score.gz"], database, "Mine", testset=TESTSET, lp=LP)
    assert (report.faults, report.evalsets[0].n_scores) == ([], 15)


@pytest.mark.slow
def test_what_does_not_fit_is_refused_with_its_line(
    original: Path, at_first: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    """All that is wrong in each of the files, in one report."""
    rows, own = blocks(), tmp_path / "mine.seg.score"
    for text, line, found in (
        ([*rows, "Ash\t7"], 16, "a second block of system 'Ash'"),
        ([*rows[:2], "Ash", *rows[3:]], 3, "1 column"),
        ([*rows[:2], "Ash\tinf", *rows[3:]], 3, "value 'inf'"),
    ):
        assert (line, found) in told(read_own(own, "\n".join(text) + "\n"))
    report = add([written(own, rows[:-1])], original, "Mine", testset=TESTSET, lp=LP)
    assert [(fault.line, fault.found) for fault in report.faults] == [(11, "4 lines of 'Cherry'")]
    assert report.notes == ["Mine-src: scores of 3 of 4 systems"]  # and of no score that is missing
    written(own, [*rows[:3], "Ash\thigh", *rows[4:10], *(row.replace("Cherry", "Chery") for row in rows[10:])])
    wrong = {
        "Ash,4,high": "value 'high'",
        "Beach,2,1.5": "unknown system 'Beach'",
        "Ash,6,1.5": "segment 6",
        "Ash,0,1.5": "segment numbers that begin at 0",
        "Ash,-1,1.5": "segment '-1'",
        f"Ash,{2**31},1.5": f"segment '{2**31}'",
    }
    table = written(tmp_path / "scores.csv", ["system,seg,score", "Ash,1,1.5", *wrong])
    binary = tmp_path / "mine.sys.score"
    binary.write_bytes(bytes(range(256)) * 20)
    report = add([own, table, binary], original, "Mine", testset=TESTSET, lp=LP)
    assert sorted((Path(fault.path).name, fault.line, fault.found) for fault in report.faults) == [
        ("mine.seg.score", 4, "value 'high'"),
        ("mine.seg.score", 11, "unknown system 'Chery' in 5 lines"),
        ("mine.sys.score", 0, "binary data"),
        *(("scores.csv", line, found) for line, found in enumerate(wrong.values(), start=3)),
    ]
    assert content(original) == at_first


def test_names_that_cannot_be_are_refused(
    original: Path, at_first: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    own = written(tmp_path / "mine.seg.score", blocks())
    for name, more, message in (
        ("Rough", {}, "Rough is already a metric of tiny24; give yours another name"),
        ("", {}, "is not a valid metric name"),
        ("Mine", {"testset": "tiny23"}, "unknown test set 'tiny23'"),
        ("Mine", {"lp": "en-fr"}, "unknown language pair 'en-fr'"),
        ("Mine", {"reference": "refB"}, "unknown reference 'refB'"),
        ("Mine", {"reference": "src"}, "reference_free=True"),
    ):
        with pytest.raises(QuestionError, match=message):
            add([own], original, name, **({"testset": TESTSET, "lp": LP} | more))  # type: ignore[arg-type]
    assert content(original) == at_first


@pytest.mark.slow
def test_what_an_own_metric_lacks_is_reported_when_it_comes_and_in_every_ranking(
    database: Path, tmp_path: Path
) -> None:
    own = written(tmp_path / "scores.csv", ["system,seg,score", "Ash,1,0.5", "Ash,2,0.25"])
    report = add([own], database, "Mine", testset=TESTSET, lp=LP)
    assert report.is_clean, report.faults
    assert (
        "Mine-src: 3 of 5 segment scores are missing; "
        f"rankings that need any of these exclude the metric (`scorehouse {option('rank.intersection', True)}` does "
        "not)"
    ) in report.notes
    assert "Mine-src: scores of 1 of 4 systems" in report.notes
    with Warehouse.open(database) as warehouse:
        found = study(warehouse, Slice(TESTSET, LP, user_metrics=True), [parse_measure("acc23(by=item)")], Options())
    assert [note for note in found.notes if note.startswith("your own Mine-src is excluded: ")]


def test_an_own_metric_that_was_not_asked_for_is_no_news(with_both: Path) -> None:
    with Warehouse.open(with_both) as warehouse:
        asked = Slice(TESTSET, LP, user_metrics=True, metrics=("Fine-src", "Mine-src"))
        (found,) = study(warehouse, asked, [parse_measure("pa")], Options()).results
    assert "your own: Mine-src" in found.notes
    assert not any(note.startswith("your own Mine-refA") for note in found.notes)


def test_an_evaluation_set_that_is_not_there_is_one_fault_with_those_that_are(
    original: Path, at_first: dict[str, list[tuple[object, ...]]], tmp_path: Path
) -> None:
    rows = [f"{testset},{lp},{system},1,{n}" for n, system in enumerate(VALUES) for testset, lp in _ABSENT]
    own = written(tmp_path / "scores.csv", ["testset,lp,system,seg,score", *rows])
    report = add([own], original, "Mine")
    assert [str(fault) for fault in report.faults] == [
        f"{own}: scores of tiny23 en-de: unknown test set 'tiny23'; did you mean 'tiny24'?",
        f"{own}: scores of tiny24 de-en: unknown language pair 'de-en' for tiny24; available: en-de",
    ]
    assert [(item.lp, item.status, item.n_broken) for item in report.evalsets] == [
        ("en-de", "refused", 1),
        ("de-en", "refused", 1),
    ]
    assert content(original) == at_first


_ABSENT = (("tiny23", "en-de"), ("tiny24", "de-en"))


def test_a_folder_of_files_of_a_language_pair_that_is_not_there_is_a_fault_each(original: Path, tmp_path: Path) -> None:
    (tmp_path / "own" / "en-fr").mkdir(parents=True)
    for name in ("Mine.seg.score", "Mine.sys.score"):
        written(tmp_path / "own" / "en-fr" / name, blocks())
    report = add([tmp_path / "own"], original, "Mine", testset=TESTSET)
    assert [Path(fault.path).name for fault in report.faults] == ["Mine.seg.score", "Mine.sys.score"]


@pytest.mark.slow
def test_evaluation_sets_that_are_there_come_in_beside_one_that_is_not(database: Path, tmp_path: Path) -> None:
    rows = [f"{lp},{system},1,{n}" for n, system in enumerate(VALUES) for lp in (LP, "de-en")]
    own = written(tmp_path / "scores.csv", ["lp,system,seg,score", *rows])
    report = add([own], database, "Mine", testset=TESTSET)
    assert [(item.lp, item.status, item.n_scores) for item in report.evalsets] == [
        ("de-en", "refused", 0),
        (LP, "added", 3),
    ]


@together("name", ["", "all", "-x", " x", "x\t", "a\nb", "a\x1bb", *(f"a{sign}b" for sign in "*?[],|/\\")])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    with pytest.raises(QuestionError) as refused:
        check_spelling(name)
    assert str(refused.value).startswith(f"{name!r} is not a valid metric name: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Mine", "my metric", "M=1.5", "COMET-22(M2)", "mé", "a.b", "a:b;c", "All", "M-refA"])
def test_a_metric_that_is_added_can_be_asked_for_alone(name: str, database: Path, tmp_path: Path) -> None:
    own = written(tmp_path / "mine.seg.score", blocks())
    assert add([own], database, name, testset=TESTSET, lp=LP).is_clean
    with Warehouse.open(database) as warehouse:
        for asked in (name, f"{name}-src"):
            found = rank(warehouse, TESTSET, LP, ["pa"], metrics=(asked,))
            assert found["metric"].to_list() == [f"{name}-src"]
