"""What files brought goes again, whole, and comes back the same."""

import json
from pathlib import Path

import pytest

from tests.helpers import LP, TESTSET, tiny_layout, together
from tests.sharing import written
from tests.warehouse.building import MARKS, ask, held, statuses
from tests.warehouse.loading.published import details, human, metric, write_task
from warehouse import QuestionError, Warehouse, load, unload
from warehouse.database.connection import StoredResult, store_results

MORE = """
SELECT 'spelling', y.name, x.spelling, x.rule
FROM system_spelling AS x JOIN system AS y ON y.system_id = x.system_id
UNION ALL
SELECT 'scorer', kind, name, coalesce(family, '') FROM scorer
UNION ALL
SELECT 'entry', sc.name, coalesce(n.status, ''), n.is_own::VARCHAR
FROM entry AS n JOIN scorer AS sc ON sc.scorer_id = n.scorer_id
UNION ALL
SELECT 'fact', t.name, f.base_name, f.family
FROM metric_fact AS f JOIN testset AS t ON t.testset_id = f.testset_id
UNION ALL
SELECT 'language', code, name, script FROM language
UNION ALL
SELECT 'issue', testset, issue, citation FROM known_issue
"""


def everything(database: Path) -> object:
    return {**held(database), "more": sorted(ask(database, MORE))}


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read it only."""
    return tiny_layout(tmp_path_factory.mktemp("in"), ratings={"marks": MARKS})


@pytest.fixture(scope="module")
def original(layout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that has loaded the layout; read it only."""
    database = tmp_path_factory.mktemp("original") / "a.duckdb"
    assert load([layout], database).is_clean
    return database


@pytest.fixture(scope="module")
def before(original: Path) -> object:
    return everything(original)


@pytest.fixture
def database(original: Path, tmp_path: Path) -> Path:
    return _copy(original, tmp_path / "a.duckdb")


def _copy(database: Path, path: Path) -> Path:
    return written(path, database.read_bytes())


def one_of_each_kind(layout: Path) -> list[Path]:
    files = [path for path in sorted(layout.rglob("*")) if path.is_file() and path.suffix not in (".docs", ".toml")]
    kinds = {(path.parent.name, *path.name.split(".")[-2:]): path for path in files}
    assert len(kinds) >= 8
    return list(kinds.values())


def goes(path: Path, database: Path) -> None:
    """Unload one file, of which something is in the warehouse."""
    (gone,) = unload(database, str(path))
    assert (gone.testset, gone.lp, gone.is_gone) == (TESTSET, LP, False)
    assert gone.n_scores + gone.n_judgements + gone.n_texts > 0


def paths(database: Path) -> set[str]:
    return {path for (path,) in ask(database, "SELECT path FROM sources")}


@pytest.mark.slow
def test_every_file_goes_and_all_come_back_the_same(layout: Path, database: Path, before: object) -> None:
    there, files = paths(database), one_of_each_kind(layout)
    for path in files:
        goes(path, database)
    assert paths(database) == there - {path.as_posix() for path in files}
    assert everything(database) != before
    assert load([layout], database).is_clean
    assert everything(database) == before


@pytest.mark.long("each kind of file by itself: 10 seconds")
def test_every_file_goes_and_comes_back_the_same(layout: Path, database: Path, before: object) -> None:
    for path in one_of_each_kind(layout):
        goes(path, database)
        assert path.as_posix() not in paths(database)
        assert everything(database) != before
        assert load([layout], database).is_clean
        assert everything(database) == before, path


@pytest.mark.slow
def test_a_whole_evaluation_set_goes_and_nothing_of_it_is_left(
    layout: Path, original: Path, before: object, tmp_path: Path
) -> None:
    for number, words in enumerate([(TESTSET,), (TESTSET, LP), (str(layout),)]):
        database = _copy(original, tmp_path / f"{number}.duckdb")
        (gone,) = unload(database, *words)
        assert gone.is_gone
        with Warehouse.open(database) as warehouse:
            query = "SELECT DISTINCT table_name FROM duckdb_tables() WHERE NOT internal"
            tables = [name for (name,) in warehouse.rows(query)]
            left = {name for name in tables if warehouse.rows(f"SELECT 1 FROM {name} LIMIT 1")}
        assert left == {"schema_migration"}
    assert load([layout], database).is_clean
    assert everything(database) == before


@pytest.mark.long("three loads: 1 second")
def test_what_is_left_is_what_loading_the_rest_alone_brings(tmp_path: Path, database: Path) -> None:
    layout = tiny_layout(tmp_path / "in", ratings={"marks": MARKS})  # as the one that was loaded
    other = tiny_layout(tmp_path / "other", testset="tiny23", lp="de-en")
    assert load([other], tmp_path / "alone.duckdb").is_clean
    assert load([other], database).is_clean
    both = _copy(database, tmp_path / "both.duckdb")
    unload(database, TESTSET)
    assert everything(database) == everything(tmp_path / "alone.duckdb")
    (fine,) = (path for path in paths(both) if path.endswith(f"{TESTSET}/metric-scores/{LP}/Fine-src.seg.score"))
    unload(both, fine)
    unload(both, "tiny24/metric-scores/en-de/Fine-src.sys.score")
    for path in layout.rglob("Fine-src.*"):
        path.unlink()
    assert load([layout, other], tmp_path / "rest.duckdb").is_clean
    assert everything(both) == everything(tmp_path / "rest.duckdb")


@pytest.mark.slow
def test_a_dry_run_says_the_same_and_changes_nothing(database: Path) -> None:
    before = database.read_bytes()
    preview = unload(database, TESTSET, dry_run=True)
    assert database.read_bytes() == before
    assert unload(database, TESTSET) == preview


@pytest.mark.long("two loads: 1 second")
def test_annotations_and_the_scores_that_they_stand_behind_go_together(tmp_path: Path) -> None:
    layout = tiny_layout(tmp_path / "in", ratings={"mqm": MARKS})
    database = tmp_path / "a.duckdb"
    report = load([layout], database)
    if not report.is_clean:  # the ratings name fewer systems than the scores: only those need be there
        pytest.fail(str(report.faults))
    at_first = everything(database)
    for name in ("en-de.mqm.seg.score", "en-de.mqm.seg.rating"):
        (gone,) = unload(database, str(layout / "human-scores" / name))
        assert gone.n_files == 2
        assert gone.n_judgements > 0
        assert ask(database, "SELECT count(*) FROM judgement") == [(0,)]
        assert load([layout], database).is_clean
        assert everything(database) == at_first


def test_a_file_whose_segments_others_need_stays(layout: Path, database: Path) -> None:
    before = database.read_bytes()
    with pytest.raises(QuestionError, match=r"defines the segments of tiny24 en-de, which \d+ other files need"):
        unload(database, str(layout / "documents"))
    assert database.read_bytes() == before


@together(
    ("words", "told"),
    [
        (("tiny42",), "unknown user metric, test set, source or loaded path 'tiny42'; did you mean 'tiny24'"),
        ((TESTSET, "de-en"), "unknown language pair 'de-en' for tiny24"),
        (("",), "unknown user metric, test set, source or loaded path ''"),
    ],
)
def test_what_was_not_loaded_is_reported(original: Path, words: tuple[str, ...], told: str) -> None:
    before = original.read_bytes()
    with pytest.raises(QuestionError, match=told):
        unload(original, *words)
    assert original.read_bytes() == before


@pytest.mark.slow
def test_stored_results_of_what_changed_go_and_others_stay(layout: Path, database: Path) -> None:
    for key, testset, lp in (
        ("a", TESTSET, LP),
        ("b", TESTSET, f"cs-de,{LP}"),
        ("c", "tiny23", LP),
        ("d", TESTSET, "all"),
    ):
        result = StoredResult(key, "compare", testset, lp, "", json.dumps({}), "0", 0.0)
        assert store_results(database, [result]) is None
    unload(database, str(layout / "metric-scores" / LP / "Fine-src.seg.score"))
    assert ask(database, "SELECT key FROM result") == [("c",)]


@pytest.mark.long("two loads: 1 second")
def test_files_that_name_things_their_own_way_come_back_the_same(tmp_path: Path) -> None:
    """With the map of segments brought along and with it loaded by itself."""
    task = write_task(tmp_path / "wmt20-metrics")
    database = tmp_path / "a.duckdb"
    parts = [human(task), metric(task)]
    assert load(parts, database).is_clean
    at_first = everything(database)
    for part in parts:
        unload(database, str(part))
        assert load(parts, database).is_clean
        assert everything(database) == at_first
    assert load([details(task)], database).is_clean
    at_first = everything(database)
    for part in parts:
        unload(database, str(part))
        report = load([task], database)
        assert report.is_clean
        assert statuses(report) == ["added"]
        assert everything(database) == at_first


@pytest.mark.long("two loads: 1 second")
def test_what_stays_answers_as_if_the_rest_had_never_come(tmp_path: Path) -> None:
    """Direct assessments, the metric, or the table of system scores."""
    task = write_task(tmp_path / "wmt20-metrics")
    details(task).unlink()  # the metric's file would bring it along
    table = tmp_path / "DA-newstest2020-ende-sys-nohy-scores.csv"
    table.write_text("LP SYSTEM HUMAN BLEU2\nen-de A_B.1 0.2 20\nen-de C.2 0.1 30\n")
    parts = {"metric": metric(task), "human": human(task), "table": table}
    assert load(list(parts.values()), tmp_path / "all.duckdb").is_clean
    for name, stays in parts.items():
        alone = tmp_path / f"{name}-alone.duckdb"
        rest = written(tmp_path / f"{name}-rest.duckdb", (tmp_path / "all.duckdb").read_bytes())
        assert load([stays], alone).is_clean
        for other in parts.values():
            if other != stays:
                unload(rest, str(other))
        with Warehouse.open(rest) as left, Warehouse.open(alone) as there:
            for view in ("evalsets", "scores", "human_scores", "system_scores", "segments", "judgements"):
                query = f"FROM {view}"
                assert _unspelled(left.rows(query)) == _unspelled(there.rows(query)), (name, view)


def _unspelled(rows: list[tuple[object, ...]]) -> list[str]:
    """Rows whatever spelling names a system: names that a removed file taught stay."""
    return sorted(repr(row).lower().replace("_", "-").replace("human-a.0", "human-a") for row in rows)
