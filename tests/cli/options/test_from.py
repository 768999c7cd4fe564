"""`--from FOLDER`: every question reads exported Parquet as it reads the warehouse."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import metaeval
import scorehouse as library
from metaeval.questions import QUESTIONS
from metaeval.results.run import Run
from queries.opening import groups
from tests.cli.running import Scorehouse, refused
from tests.helpers import tiny_layout, together
from tests.warehouse.forged_exports import rewrite, rows_of
from warehouse import QuestionError, SourceError, Warehouse, WarehouseError, load
from warehouse.export import export
from warehouse.export.exported import EvalsetKey, write_text
from warehouse.export.opening import exported_evalsets as exported_evalsets_of
from warehouse.export.opening import open_export
from warehouse.export.parquet import MANIFEST, partition_file, read_manifest, write_manifest
from warehouse.names import UNFINISHED_EXPORT

SET = ("sim24", "cs-uk")
WORDS = (
    "list",
    "list lps",
    "list metrics",
    "list humans",
    "list systems",
    "list sources",
    "list issues",
    "rank sim24 en-de",
    "rank SIM24 all -m pa -m tau_b(by=item) --status all",
    "rank all all -m pa --pool mean",
    "rank sim24 cs-uk --explain",
    "rank sim24 de-en",
    "compare sim24 en-de -m pa --resamples 20 --recompute",
    "compare sim24 en-de simBLEU Dice-src -m pearson --resamples 20 --recompute",
    "advise sim24 en-de -m pa",
    "protocol wmt24 --on sim24 --lp en-de",
    "systems sim24 en-de --resamples 20",
    "systems sim24 en-de --test wilcoxon --scorer simBLEU",
    "autorank sim24 en-de",
    "correlations sim24 en-de",
    "trend all all -m pa --resamples 20",
    "trend sim23,sim24 en-de -m pa --resamples 20",
    "sample sim24 en-de --evaluate --selections 2",
    "show sim24 en-de 1",
    "segments sim24 en-de simBLEU -n 3",
    "spans sim24 en-de",
    "scatter sim24 en-de simBLEU",
    "counts all all --by system --epsilon 0.1",
    "counts sim24 cs-uk",
    "thresholds sim24 en-de",
    "means all all --status all",
    "means sim24 en-de --assisted-by simBLEU",
    "deltas sim24 en-de simBLEU",
    "deltas --hard sim24 en-de --min-metrics 1",
    "noise sim24 en-de simBLEU --simulations 2",
    "plan sim24 en-de simBLEU Dice-src -m pa --simulations 20 --resamples 20",
    "cutoff sim24 en-de simBLEU --good -1",
    "cutoff sim24 en-de simBLEU --view transfer --resamples 20",
    "rank sim24 en-de -m mcc(threshold=sim23)",
    "sample sim24 en-de --size 20",
    "annotators sim24 en-de",
    "judges sim24 en-de --view bias",
    "audit",
    "audit sim24",
    "paper graham-2014 figure-2 --testset sim24 --lp en-de",
)

OF_THE_FILE = ("results", "rankings", "trends", "comparisons", "protocol_scores", "migrations")
"""Views of what only a warehouse keeps: stored results, and its own history."""


@pytest.fixture(scope="module")
def database(exported_evalsets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of three evaluation sets, which came back from the export of a larger one."""
    folder = tmp_path_factory.mktemp("from")
    report = load([exported_evalsets], folder / "scores.duckdb")
    assert report.is_clean
    return folder / "scores.duckdb"


@pytest.fixture(scope="module")
def exported(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    export(database, folder / "a [folder]*")
    return folder / "a [folder]*"


@pytest.fixture
def broken(exported: Path, tmp_path: Path) -> Path:
    """A copy of the export, to be damaged."""
    return Path(shutil.copytree(exported, tmp_path / "broken"))


def test_every_question_is_asked_here() -> None:
    assert {words.split()[0] for words in WORDS} == QUESTIONS.keys() - {"diff"}


@pytest.mark.slow
@together("words", WORDS)
def test_every_question_answers_from_a_folder_as_from_the_warehouse(
    scorehouse: Scorehouse, database: Path, exported: Path, words: str
) -> None:
    asked = (*words.split(), "--format", "csv" if words != "show sim24 en-de 1" else "json")
    expected, found = scorehouse(*asked, "--db", database), scorehouse(*asked, "--from", exported)
    assert (found.code, found.out, found.err) == (expected.code, expected.out, expected.err)
    assert expected.code in (0, 2)
    assert len(expected.out) > 20 or expected.code == 2


@pytest.mark.slow
@together("words", [words for words in WORDS if " all" in words])
def test_a_folder_opened_one_evaluation_set_at_a_time_has_the_same_answers(
    scorehouse: Scorehouse, exported_evalsets: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    asked = (*words.split(), "--format", "csv", "--from", exported_evalsets)
    expected = scorehouse(*asked)
    with monkeypatch.context() as patched:
        patched.setattr("queries.opening._MOST_READ", 0)
        found = scorehouse(*asked)
    assert (found.code, found.out, found.err) == (expected.code, expected.out, expected.err)


def test_few_evaluation_sets_are_open_at_once_and_none_when_something_is_done_with_what_was_found() -> None:
    """Whoever fails there goes no further, and what were still open would be left to the garbage collector."""
    places = [("sim24", f"en-{number}") for number in range(5)]
    now = list[tuple[str, str]]()

    @contextmanager
    def some(wanted: Sequence[tuple[str, str]]) -> Iterator[Callable[[], AbstractContextManager[Any]]]:
        now.extend(wanted)
        yield lambda: nullcontext(None)
        now.clear()

    def by_three(wanted: Sequence[tuple[str, str]]) -> Iterator[tuple[list[tuple[str, str]], Any]]:
        for group in (wanted[:3], wanted[3:]):
            yield [*group], some(group)

    def work(run: Run, testset: str, lp: str) -> tuple[str, str]:
        assert (testset, lp) in now
        assert run.opened_groups is None
        return testset, lp

    def unused() -> AbstractContextManager[Any]:
        raise AssertionError("all are opened")

    for place, found in zip(places, Run(unused, opened_groups=by_three).each(work, places), strict=True):
        assert found == place
        assert not now


def test_nothing_differs_between_the_warehouse_and_the_folder(
    scorehouse: Scorehouse, exported: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again.duckdb"
    assert load([exported], again).is_clean
    for words in ((again, "--from", exported), (again, exported), (exported, again)):
        ran = scorehouse("diff", *words, "-m", "pa")
        assert ran.code == 0, ran.err
        assert ran.out.startswith("Nothing differs.")


@pytest.mark.slow
def test_views_have_the_rows_of_the_warehouse(database: Path, exported: Path) -> None:
    views = "SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal ORDER BY 1"
    with Warehouse.open(database) as file, library.open(exported) as folder:
        for (view,) in file.rows(views):
            count = f"SELECT count(*), sum(hash(v)) FROM {view} AS v"
            assert view in OF_THE_FILE or folder.rows(count) == file.rows(count), view


def test_python_takes_a_folder_where_it_takes_a_warehouse(database: Path, exported: Path) -> None:
    with Warehouse.open(database) as warehouse, library.open(exported) as folder:
        expected = metaeval.means(warehouse, *SET, metrics="sim*")
        for found in (metaeval.means(str(exported), *SET, metrics="sim*"), folder.means(*SET, metrics="sim*")):
            assert found.frame.equals(expected.frame)
            assert found.signature == expected.signature
    assert not list(exported.glob("*.tmp"))


def test_a_query_reads_the_data_of_a_folder_alone_and_writes_nothing(broken: Path) -> None:
    file = next(broken.rglob("*.parquet"))
    shutil.copyfile(file, file.with_name("more.parquet"))
    (broken / "notes.txt").write_text("a\n1\n")
    before = sorted((path, path.stat().st_size) for path in broken.rglob("*"))
    with library.open(broken) as folder:
        for query in (
            f"COPY (SELECT 1 AS a) TO '{broken / 'new.csv'}'",
            f"COPY (SELECT 1 AS a) TO '{file}'",
            f"EXPORT DATABASE '{broken / 'new'}'",
            "DELETE FROM internal.evalset",
            "DROP VIEW scores",
            "CREATE TABLE t AS SELECT 1",
            f"SELECT 1; COPY (SELECT 1 AS a) TO '{broken / 'new.csv'}'",
            f"ATTACH '{broken / 'new.duckdb'}' AS new",
        ):
            with pytest.raises(QuestionError, match=r"refused|one statement"):
                folder.sql(query)
        assert folder.sql("PIVOT (SELECT testset, lp FROM scores) ON lp USING count(*)").height == 2
        for source in (
            *(f"read_text('{place}')" for place in (__file__, broken.parent / "beside", broken / "notes.txt")),
            f"read_blob('{broken / MANIFEST}')",
            f"read_csv('{broken / 'notes.txt'}')",
            *(f"glob('{place}')" for place in (broken / "*", broken / "**", "*", "/*")),
            f"read_parquet('{broken / 'score'}/*/*/*.parquet')",
            f"'{file.with_name('more.parquet')}'",
        ):
            with pytest.raises(QuestionError, match="disabled by configuration"):
                folder.sql(f"SELECT * FROM {source}")
    assert sorted((path, path.stat().st_size) for path in broken.rglob("*")) == before


def test_only_the_named_evaluation_set_is_read(scorehouse: Scorehouse, broken: Path) -> None:
    """A task of one evaluation set depends on no other."""
    shutil.rmtree(broken / "score" / "testset=sim23")
    assert scorehouse("rank", *SET, "-m", "pa", "--from", broken).code == 0
    refused(scorehouse("rank", "all", "-m", "pa", "--from", broken), 3, "missing: score/testset=sim23")


def test_what_is_no_whole_export_is_refused_in_one_line(
    scorehouse: Scorehouse, exported: Path, broken: Path, tmp_path: Path
) -> None:
    refused(scorehouse("rank", *SET, "--from", tmp_path / "none"), 3, "none: no such folder", "scorehouse export DIR")
    refused(scorehouse("rank", *SET, "--from", "https://bucket/scores"), 3, "a URL; expected a folder", "s3://BUCKET")
    (tmp_path / "empty").mkdir()
    refused(scorehouse("rank", *SET, "--from", tmp_path / "empty"), 3, "no exported Parquet", "scorehouse export DIR")
    refused(scorehouse("rank", "sim25", "cs-uk", "--from", exported), 2, "unknown test set 'sim25'", "'sim24'")
    refused(scorehouse("rank", *SET, "--from", exported, "--db", tmp_path / "x"), 2, "--from and --db")
    (scores,) = broken.glob("score/testset=sim24/lp=cs-uk/data.parquet")
    whole = scores.read_bytes()
    scores.write_bytes(whole[: len(whole) // 2] + b"?" + whole[len(whole) // 2 + 1 :])
    refused(scorehouse("rank", *SET, "--from", broken), 3, "differ from the manifest", "export it again")
    scores.write_bytes(whole)
    write_text(broken / UNFINISHED_EXPORT, "{}\n")
    refused(scorehouse("rank", *SET, "--from", broken), 3, "unfinished export", "export it again")


def test_both_doors_refuse_forged_rows_in_one_line_and_leave_the_warehouse(
    scorehouse: Scorehouse, database: Path, broken: Path, tmp_path: Path
) -> None:
    """Every forgery is tried in tests/warehouse/export/test_checks.py."""
    rewrite(broken, "score", SET, rows_of(broken, "score", SET).drop("value"))
    said = f"{broken}: score of sim24 cs-uk has no column value DOUBLE; export it again, into a new folder"
    refused(scorehouse("rank", *SET, "--from", broken), 3, said)
    before = Path(shutil.copyfile(database, tmp_path / "before.duckdb"))
    for where in (before, tmp_path / "new.duckdb"):
        loaded = scorehouse("load", broken, "--db", where)
        assert loaded.code == 3
        assert [line for line in loaded.notes if "score of" in line] == [f"error: {said}"]
    assert before.read_bytes() == database.read_bytes()
    assert not (tmp_path / "new.duckdb").exists()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300])
def test_scores_that_no_load_takes_are_refused(
    scorehouse: Scorehouse, broken: Path, tmp_path: Path, number: float
) -> None:
    rewrite(broken, "score", SET, rows_of(broken, "score", SET).with_columns(value=pl.lit(number)))
    said = "score of sim24 cs-uk has a value that no load accepts"
    refused(scorehouse("rank", *SET, "-m", "pa", "--from", broken), 3, said)
    refused(scorehouse("rank", "all", "-m", "pa", "--from", broken), 3, said)
    loaded = scorehouse("load", broken, "--db", tmp_path / "again.duckdb")
    assert loaded.code == 3
    assert said in loaded.err


@pytest.mark.parametrize(
    "change",
    [
        lambda one: {**one, "files": {**one["files"], "../../score": one["files"]["score"]}},
        lambda one: {**one, "testset": "a\0b"},
        lambda one: {**one, "lp": ["cs-uk"]},
        lambda one: {**one, "files": []},
        lambda one: {**one, "files": {**one["files"], "score": {"rows": 1}}},
        lambda one: {**one, "files": {**one["files"], "score": {**one["files"]["score"], "rows": "many"}}},
    ],
)
def test_a_hostile_manifest_is_refused(scorehouse: Scorehouse, broken: Path, change: object) -> None:
    from warehouse.export.parquet import _seal

    path = broken / MANIFEST
    data = json.loads(path.read_text())
    data["evalsets"] = [change(one) for one in data["evalsets"]]  # type: ignore[operator]
    data.pop("sha256")
    path.write_text(json.dumps({**data, "sha256": _seal(data)}))
    refused(scorehouse("rank", *SET, "--from", broken), 3, "not the manifest of a complete export")


def test_names_of_a_manifest_are_no_paths(scorehouse: Scorehouse, broken: Path) -> None:
    manifest = read_manifest(broken)
    write_manifest(broken, {("../..", "/etc"): manifest[SET]})
    refused(scorehouse("list", "--from", broken), 3, "missing: ", "testset=..%2F..")


def test_a_link_out_of_the_folder_is_refused(scorehouse: Scorehouse, broken: Path, tmp_path: Path) -> None:
    path = partition_file(broken, "score", EvalsetKey(0, *SET))
    path.rename(tmp_path / "elsewhere.parquet")
    path.symlink_to(tmp_path / "elsewhere.parquet")
    refused(scorehouse("rank", *SET, "--from", broken), 3, "links lead out of the folder: score/")


def test_the_connection_reaches_the_folder_alone(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with open_export(exported, lambda _: [SET]) as folder:
        for query in (
            f"FROM '{tmp_path}/secret.csv'",
            "FROM 'https://example.org/x.csv'",
            "SET enable_external_access = true",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        ):
            with pytest.raises((duckdb.Error, WarehouseError)):
                folder.sql(query)


@pytest.mark.slow
def test_evaluation_sets_of_two_warehouses_in_one_folder_keep_their_scores(
    scorehouse: Scorehouse, database: Path, tmp_path: Path
) -> None:
    """Their identifiers are the same numbers; the second export is appended to the first."""
    assert load([tiny_layout(tmp_path / "files")], tmp_path / "tiny.duckdb").is_clean
    folder = tmp_path / "both"
    export(tmp_path / "tiny.duckdb", folder)
    export(database, folder, testset="sim24")
    assert {one.batch for one in read_manifest(folder).values()} == {0, 1}
    for testset, lp, where in (("tiny24", "en-de", tmp_path / "tiny.duckdb"), (*SET, database)):
        for command in ("means", "spans", "annotators"):
            words = (command, testset, lp, "--format", "csv")
            expected, found = scorehouse(*words, "--db", where), scorehouse(*words, "--from", folder)
            assert (found.code, found.out) == (expected.code, expected.out), found.err
    with Warehouse.open(database) as file, open_export(folder) as opened:
        of_all = (
            "SELECT count(*), sum(hash(testset, lp, system, metric, segment, value)) FROM scores WHERE testset = $t"
        )
        assert opened.rows(of_all, {"t": "sim24"}) == file.rows(of_all, {"t": "sim24"})
    load([folder], tmp_path / "back.duckdb")
    with Warehouse.open(tmp_path / "back.duckdb") as back, open_export(folder) as opened:
        query = "SELECT testset, lp, count(*) FROM scores GROUP BY ALL ORDER BY ALL"
        assert back.rows(query) == opened.rows(query)


def test_a_folder_can_be_opened_without_any_evaluation_set(exported: Path, tmp_path: Path) -> None:
    write_manifest(tmp_path, {})
    for opened in (open_export(exported, lambda _: []), open_export(tmp_path)):
        with opened as folder:
            assert folder.rows("SELECT count(*) FROM scores") == [(0,)]


@pytest.mark.slow
def test_an_evaluation_set_that_is_exported_again_takes_the_place_of_the_first(database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    export(database, folder, testset="sim24")
    with open_export(folder) as opened:
        before = opened.rows("SELECT count(*), sum(hash(s)) FROM human_scores AS s")
    export(database, folder, "parquet", *SET)
    with open_export(folder) as opened:
        assert opened.rows("SELECT count(*), sum(hash(s)) FROM human_scores AS s") == before
    with pytest.raises(SourceError, match="no exported Parquet"):
        open_export(tmp_path)


def test_small_evaluation_sets_are_opened_together_and_large_ones_alone(
    exported_evalsets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = exported_evalsets_of(exported_evalsets)
    places = sorted(there)
    assert len(places) >= 3
    assert [*groups(exported_evalsets, places)] == [places]
    assert [len(group) for group in groups(exported_evalsets, places, 2)] == [2] * (len(places) // 2) + [1] * (
        len(places) % 2
    )
    monkeypatch.setattr("queries.opening._MOST_READ", 4 * max(one.files["score"].rows for one in there.values()))
    several = [*groups(exported_evalsets, places)]
    assert [place for group in several for place in group] == places
    assert 1 < len(several) < len(places)
    assert max(map(len, several)) >= 2
    monkeypatch.setattr("queries.opening._MOST_READ", 0)
    assert [*groups(exported_evalsets, [("sim24", "all"), *places])] == [[("sim24", "all")], *([one] for one in places)]


def test_a_narrowed_export_reads_the_scores_of_its_evaluation_sets_alone(exported: Path) -> None:
    query = "SELECT DISTINCT testset, lp FROM human_scores ORDER BY ALL"
    with open_export(exported) as opened:
        every = opened.rows(query)
        assert len({testset for testset, _ in every}) < len(every)
        for named, expected in (
            ([SET], [SET]),
            ([(SET[0], "all")], [place for place in every if place[0] == SET[0]]),
            ([], []),
        ):
            with opened.narrowed(named) as some:
                assert some.rows(query) == expected
        assert opened.rows(query) == every


def test_a_file_that_changes_after_the_folder_was_opened_is_refused_where_it_is_read(broken: Path) -> None:
    with open_export(broken) as opened:
        file = partition_file(broken, "score", EvalsetKey(0, *SET))
        file.write_bytes(file.read_bytes() + b" ")
        with pytest.raises(SourceError, match=r"1 of [0-9]+ files differ from the manifest"), opened.narrowed([SET]):
            raise AssertionError
