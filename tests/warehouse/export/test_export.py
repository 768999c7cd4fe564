"""Exports: what comes back is what went out; other formats hold what the warehouse holds."""

import csv
import json
import shutil
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pytest

from tests.helpers import MQM, SYSTEMS, metric_tables, mqm_table, sampled, tiny_bytes, tiny_layout
from tests.sharing import written
from warehouse import LoadReport, QuestionError, SchemaError, SourceError, Warehouse, load
from warehouse.database.opening import answered
from warehouse.database.updating import writing
from warehouse.export import export, import_parquet, is_export
from warehouse.export.exported import ExportedEvalset, copy, replacing_file
from warehouse.export.mtme import RatingTable, ScoreTable
from warehouse.export.parquet import MANIFEST
from warehouse.names import UNFINISHED_EXPORT
from warehouse.writing.reports import EvalsetReport

VIEWS = {
    "evalsets": "testset, year, lp, standard_reference, standard_human_seg, standard_human_sys, n_segments, n_systems",
    "scores": "testset, lp, domain, document, segment, system, metric, base_metric, reference, value",
    "human_scores": "testset, lp, domain, document, segment, system, human, value",
    "system_scores": "testset, lp, kind, scorer, system, submitted, mean, n_segments, n_missing",
    "aggregate_scores": "testset, lp, kind, scorer, system, level, unit, value",
    "metrics": "testset, lp, metric, base_metric, reference, is_reference_free, family, status, is_own, levels",
    "systems": "testset, lp, system, canonical_name, kind, is_outlier",
    "segments": "testset, lp, segment, position, domain, document, index_in_document, source_text",
    "texts": "testset, lp, kind, name, segment, text",
    "metric_facts": "testset, base_metric, family, kind, is_known",
    "judgements": "testset, lp, human, system, segment, rater, value, n, time, status, n_errors",
    "spans": "testset, lp, kind, scorer, system, segment, rater, side, category, severity, weight, span_start",
}
SOURCES = "testset, lp, origin, sha256, n_bytes, reader, n_rows, n_missing, status, path"


def _ratings() -> dict[str, RatingTable]:
    """Two annotators, nobody at the fourth segment, errors with and without a span, a sum that depends on the order."""
    error: dict[str, object] = {
        "start": 0,
        "end": 3,
        "category": "accuracy",
        "severity": "major",
        "score": 5.0,
        "is_source_error": True,
    }
    bare: dict[str, object] = {
        "start": None,
        "end": None,
        "category": None,
        "severity": "minor",
        "score": 0.1,
        "is_source_error": None,
    }
    tenths = [{**bare, "start": 9 - place, "score": weight} for place, weight in enumerate((0.1, 0.2, 0.3))]
    errors: list[list[dict[str, object]] | None] = [[error, bare], [], tenths, None, [error]]
    return {
        "esa.merged": RatingTable(
            errors={system: errors for system in SYSTEMS},  # noqa: C420
            raters={system: ["r1", "r2", "r1", None, None] for system in SYSTEMS},
        )
    }


def _layout(folder: Path, **changes: object) -> Path:
    """The tiny task with scores at every level and ratings."""
    tables = metric_tables()
    fine = tables["Fine-src"]
    assert fine.seg is not None
    tables["Fine-src"] = ScoreTable(
        systems=fine.systems,
        seg=fine.seg,
        sys=fine.sys,
        doc=np.array([[0.1, 0.2, np.nan]] * 4),
        domain={"news": np.array([1.0, 2, 3, 4]), "speech": np.array([4.0, 3, 2, 1])},
    )
    human = mqm_table()
    half = ScoreTable(systems=SYSTEMS[:2], seg=np.array(MQM[:2]))  # no system scores, two systems
    return tiny_layout(folder, metrics=tables, humans={"mqm": human, "half": half}, ratings=_ratings(), **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `layout`, and `w.duckdb` made from it."""
    folder = tmp_path_factory.mktemp("loaded")
    layouts = [
        _layout(folder / "layout"),
        tiny_layout(folder / "layout", testset="tiny24", lp="en-zh", facts=False),
        tiny_layout(folder / "layout", testset="tiny25", lp="en-sr_Cyrl_RS", facts=False),
    ]
    report = load(layouts, folder / "w.duckdb")
    assert report.is_clean, report.faults
    return folder


@pytest.fixture
def database(loaded: Path, tmp_path: Path) -> Path:
    return written(tmp_path / "w.duckdb", (loaded / "w.duckdb").read_bytes())


@pytest.fixture(scope="module")
def exported(loaded: Path) -> Path:
    """What the export of a test set is; copy it before changing it."""
    export(loaded / "w.duckdb", loaded / "exported", testset="tiny24")
    return loaded / "exported"


@pytest.fixture(scope="module")
def one_exported(loaded: Path) -> Path:
    """What the export of one evaluation set is; read it only."""
    export(loaded / "w.duckdb", loaded / "one", "parquet", "tiny24", "en-de")
    return loaded / "one"


class RoundTrip(NamedTuple):
    """What left a warehouse as Parquet, and came into another one."""

    folder: Path
    database: Path
    exported: list[ExportedEvalset]
    imported: list[EvalsetReport]


@pytest.fixture(scope="module")
def back(loaded: Path) -> RoundTrip:
    """The whole warehouse, exported and imported; read it only."""
    folder, database = loaded / "whole", loaded / "back.duckdb"
    return RoundTrip(folder, database, export(loaded / "w.duckdb", folder), import_parquet(folder, database))


class LayoutTrip(NamedTuple):
    """What left a warehouse in the organisers' layout, and was loaded into another one."""

    folder: Path
    database: Path
    exported: list[ExportedEvalset]
    report: LoadReport


@pytest.fixture(scope="module")
def as_layout(loaded: Path) -> LayoutTrip:
    """The whole warehouse, exported and loaded; read it only."""
    folder, database = loaded / "as_layout", loaded / "from_layout.duckdb"
    return LayoutTrip(folder, database, export(loaded / "w.duckdb", folder, "mtme"), load([folder], database))


def _rows(database: Path, sources: bool = True, where: str = "true") -> dict[str, list[tuple[object, ...]]]:
    views = {**VIEWS, **({"sources": SOURCES} if sources else {})}
    with Warehouse.open(database) as warehouse:
        return {
            view: warehouse.rows(f"SELECT {columns} FROM {view} WHERE {where} ORDER BY ALL")
            for view, columns in views.items()
            if "lp" not in where or "lp" in columns.split(", ")
        }


@pytest.mark.slow
def test_parquet_comes_back_with_the_same_rows(loaded: Path, back: RoundTrip) -> None:
    assert [(item.testset, item.lp) for item in back.exported] == [
        ("tiny24", "en-de"),
        ("tiny24", "en-zh"),
        ("tiny25", "en-sr_Cyrl_RS"),
    ]
    assert [item.status for item in back.imported] == ["loaded"] * 3
    before, after = _rows(loaded / "w.duckdb"), _rows(back.database)
    assert all(before[view] for view in VIEWS)  # every view has something to lose
    assert after == before


@pytest.mark.slow
def test_the_identifiers_of_a_fresh_warehouse_come_back_in_the_same_order(loaded: Path, back: RoundTrip) -> None:
    query = """
        SELECT sc.name, y.name, v.level, s.segment, s.value
        FROM score AS s
        JOIN vector AS v ON v.vector_id = s.vector_id
        JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
        JOIN system AS y ON y.system_id = v.system_id
        JOIN evalset AS e ON e.evalset_id = v.evalset_id
        WHERE e.lp = 'en-de'
        ORDER BY s.vector_id, s.rowid
    """
    with Warehouse.open(loaded / "w.duckdb") as before, Warehouse.open(back.database) as after:
        assert before.rows(query) == after.rows(query)


def test_the_errors_of_a_judgement_come_back_in_the_same_order(loaded: Path, back: RoundTrip) -> None:
    query = "SELECT weight FROM spans WHERE lp = 'en-de' AND system = 'Ash' AND segment = 3"
    with Warehouse.open(loaded / "w.duckdb") as before, Warehouse.open(back.database) as after:
        assert before.rows(query) == after.rows(query) == [(0.1,), (0.2,), (0.3,)]


@pytest.mark.long("two loads: 1 second")
def test_parquet_comes_into_a_warehouse_that_holds_other_things(exported: Path, database: Path, tmp_path: Path) -> None:
    target = tmp_path / "other.duckdb"
    assert load([_layout(tmp_path / "more", testset="more26")], target).is_clean
    own = _rows(target)
    import_parquet(exported, target)
    assert _rows(target, where="testset = 'more26'") == own
    assert _rows(target, where="testset = 'tiny24'") == _rows(database, where="testset = 'tiny24'")
    with Warehouse.open(target) as warehouse:
        for table, column in (("vector", "vector_id"), ("source", "source_id"), ("judgement", "judgement_id")):
            (found,) = warehouse.rows(f"SELECT count(*), count(DISTINCT {column}) FROM {table}")
            assert found[0] == found[1] > 0


def test_importing_twice_changes_nothing(back: RoundTrip, database: Path) -> None:
    before = back.database.read_bytes()
    assert {item.status for item in import_parquet(back.folder, back.database)} == {"unchanged"}
    assert {item.status for item in import_parquet(back.folder, database)} == {"unchanged"}
    assert back.database.read_bytes() == before


@pytest.mark.slow
def test_an_evaluation_set_from_other_files_is_not_overwritten(one_exported: Path, tmp_path: Path) -> None:
    written(tmp_path / "other.duckdb", tiny_bytes())
    before = _rows(tmp_path / "other.duckdb")
    with pytest.raises(SourceError, match="from other files"):
        import_parquet(one_exported, tmp_path / "other.duckdb")
    assert _rows(tmp_path / "other.duckdb") == before


def test_what_is_loaded_after_an_import_meets_it(loaded: Path, back: RoundTrip, tmp_path: Path) -> None:
    report = load([loaded / "layout"], written(tmp_path / "back.duckdb", back.database.read_bytes()))
    assert {evalset.status for evalset in report.evalsets} == {"unchanged"}


@pytest.mark.long("two exports: 1 second")
def test_an_export_into_the_same_folder_takes_the_place_of_the_earlier_one(
    exported: Path, database: Path, tmp_path: Path
) -> None:
    shutil.copytree(exported, tmp_path / "out")
    export(database, tmp_path / "out", testset="tiny25")
    export(database, tmp_path / "out", testset="tiny24")
    import_parquet(tmp_path / "out", tmp_path / "back.duckdb")
    assert _rows(tmp_path / "back.duckdb") == _rows(database)


def test_the_partitions_can_be_read_by_name(back: RoundTrip) -> None:
    assert is_export(back.folder)
    glob = str(back.folder / "score" / "*" / "*" / "*.parquet")
    with duckdb.connect() as connection:
        rows = connection.execute(
            """
            SELECT testset, lp, scorer, system, segment, value
            FROM read_parquet($glob, hive_partitioning = true)
            WHERE kind = 'human' AND testset = 'tiny24' AND lp = 'en-de' AND scorer = 'mqm' AND system = 'Ash'
            ORDER BY segment
            """,
            {"glob": glob},
        ).fetchall()
        codecs = connection.execute(
            "SELECT DISTINCT compression FROM parquet_metadata($glob)", {"glob": glob}
        ).fetchall()
    assert [row[-1] for row in rows] == [-1.0, 0.0, -5.0, None, -1.0]
    assert codecs == [("ZSTD",)]


def _damage(what: str, folder: Path) -> None:
    score = folder / "score" / "testset=tiny24" / "lp=en-de" / "data.parquet"
    manifest = folder / MANIFEST
    if what == "a missing file":
        score.unlink()
    elif what == "a cut file":
        score.write_bytes(score.read_bytes()[:-20])
    elif what == "no Parquet":
        score.write_text("hello")
    elif what == "another file's rows":
        score.write_bytes((folder / "score" / "testset=tiny24" / "lp=en-zh" / "data.parquet").read_bytes())
    elif what == "no manifest":
        manifest.unlink()
    elif what == "a manifest that is none":
        manifest.write_text("[1]")
    elif what == "a newer manifest":
        manifest.write_text(manifest.read_text().replace('"version": 3', '"version": 99'))


@pytest.mark.parametrize(
    "what",
    sampled(
        2,
        "each damage: 2 seconds",
        [
            *("a missing file", "a cut file", "no Parquet", "another file's rows", "no manifest"),
            *("a manifest that is none", "a newer manifest"),
        ],
    ),
)
def test_a_damaged_export_is_refused_and_nothing_of_it_stays(what: str, exported: Path, tmp_path: Path) -> None:
    shutil.copytree(exported, tmp_path / "out")
    _damage(what, tmp_path / "out")
    target = tmp_path / "back.duckdb"
    with pytest.raises(SourceError) as caught:
        import_parquet(tmp_path / "out", target)
    assert "\n" not in str(caught.value)
    if target.exists():
        with Warehouse.open(target) as warehouse:
            assert warehouse.rows("SELECT count(*) FROM evalset") == [(0,)]
            assert warehouse.rows("SELECT count(*) FROM score") == [(0,)]


@pytest.mark.slow
def test_the_organisers_layout_comes_back_with_the_same_rows(loaded: Path, as_layout: LayoutTrip) -> None:
    assert [item.notes for item in as_layout.exported] == [(), (), ()]
    assert as_layout.report.is_clean, as_layout.report.faults
    assert _rows(as_layout.database, sources=False) == _rows(loaded / "w.duckdb", sources=False)


def test_the_layout_of_a_layout_is_the_same_files(as_layout: LayoutTrip, tmp_path: Path) -> None:
    export(as_layout.database, tmp_path / "twice", "mtme")
    assert _tree(as_layout.folder) == _tree(tmp_path / "twice")


@pytest.mark.slow
def test_texts_with_line_breaks_become_json_lines(tmp_path: Path) -> None:
    folder = tiny_layout(tmp_path / "layout")
    sources = folder / "sources" / "en-de.txt"
    lines = [json.dumps({"source": f"line {number}\nand more"}) for number in range(5)]
    sources.unlink()
    sources.with_suffix(".jsonl").write_text("\n".join(lines) + "\n")
    assert load([folder], tmp_path / "w.duckdb").is_clean
    export(tmp_path / "w.duckdb", tmp_path / "out", "mtme")
    assert load([tmp_path / "out"], tmp_path / "back.duckdb").is_clean
    assert _rows(tmp_path / "back.duckdb", sources=False) == _rows(tmp_path / "w.duckdb", sources=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value", "why"),
    [("is_own", "true", "added by a user"), ("status", "'no entry'", "not submitted to the metrics task")],
)
def test_what_the_layout_cannot_mark_is_excluded_from_it_with_a_note(
    column: str, value: str, why: str, database: Path, tmp_path: Path
) -> None:
    with duckdb.connect() as connection, writing(database, connection):
        connection.execute(f"UPDATE entry SET {column} = {value} WHERE scorer_id = "
                           "(SELECT scorer_id FROM scorer WHERE name = 'Fine-src')")  # fmt: skip
    (item,) = export(database, tmp_path / "out", "mtme", "tiny24", "en-de")
    assert item.notes == (
        f"Fine-src is excluded, {why} (this layout would show them as submissions to the shared task; use csv or "
        "parquet)",
    )
    assert not list((tmp_path / "out").rglob("Fine-src*"))
    assert list((tmp_path / "out").rglob("Rough-refA*"))


@pytest.mark.slow
def test_texts_that_lack_segments_are_excluded_from_the_layout_with_a_note(database: Path, tmp_path: Path) -> None:
    with duckdb.connect() as connection, writing(database, connection):
        connection.execute("DELETE FROM segment_text WHERE kind = 'output' AND name = 'Ash' AND segment = 2")
    (item,) = export(database, tmp_path / "out", "mtme", "tiny24", "en-de")
    assert item.notes == ("texts with missing segments are excluded: output Ash",)
    assert sorted(path.stem for path in (tmp_path / "out").rglob("system-outputs/en-de/*")) != []
    assert not list((tmp_path / "out").rglob("Ash.txt"))


@pytest.mark.slow
def test_judgements_that_a_rating_file_cannot_hold_are_reported(database: Path, tmp_path: Path) -> None:
    """Two judgements of one cell: the scores are written, the judgements are not."""
    with duckdb.connect() as connection, writing(database, connection):
        connection.execute(
            "INSERT INTO judgement SELECT judgement_id + 1000, * EXCLUDE (judgement_id) FROM judgement LIMIT 1"
        )
    (item,) = export(database, tmp_path / "out", "mtme", "tiny24", "en-de")
    assert item.notes == ("esa.merged: 17 single judgements are excluded: a rating file has one per segment",)
    assert load([tmp_path / "out"], tmp_path / "back.duckdb").is_clean
    before, after = (
        _rows(path, sources=False, where="testset = 'tiny24' AND lp = 'en-de'")
        for path in (database, tmp_path / "back.duckdb")
    )
    assert after["human_scores"] == before["human_scores"]
    assert after["judgements"] == []


def test_csv_has_every_score_in_full(database: Path, tmp_path: Path) -> None:
    export(database, tmp_path / "out", "csv", "tiny24", "en-de")
    with (tmp_path / "out" / "tiny24" / "en-de" / "human_scores.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["human"] == "mqm"]
    values = [[row["value"] for row in rows if row["system"] == system] for system in SYSTEMS]
    expected = [["" if np.isnan(value) else repr(value) for value in line] for line in MQM]
    assert values == expected
    assert rows[0]["document"] == "n1"
    (fault,) = load([tmp_path / "out"], tmp_path / "back.duckdb").faults
    assert (fault.path, fault.found) == (str(tmp_path / "out" / "tiny24" / "en-de"), "a csv export")


def test_csv_rows_with_the_same_names_have_one_order(database: Path, tmp_path: Path) -> None:
    with duckdb.connect() as connection, writing(database, connection):
        connection.execute(
            "INSERT INTO judgement SELECT * REPLACE (judgement_id + 999 AS judgement_id, -1000 AS value) FROM judgement"
        )
    export(database, tmp_path / "out", "csv", "tiny24", "en-de")
    with (tmp_path / "out" / "tiny24" / "en-de" / "judgements.csv").open(newline="") as file:
        rows = [(row["system"], row["segment"], row["rater"], row["value"]) for row in csv.DictReader(file)]
    assert len(rows) >= 30
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert first[:3] == second[:3]
        assert first[3] == "-1000.0" != second[3]


def test_items_are_those_of_subset2evaluate(database: Path, tmp_path: Path) -> None:
    (item,) = export(database, tmp_path / "out", "subset2evaluate", "tiny24", "en-de")
    lines = (tmp_path / "out" / "tiny24.en-de.jsonl").read_text().splitlines()
    items = [json.loads(line) for line in lines]
    assert [item["i"] for item in items] == [0, 1, 2, 3]  # the fourth of five segments was not judged
    first, last = items[0], items[-1]
    assert list(first) == ["i", "src", "ref", "tgt", "domain", "doc", "scores"]
    assert (first["src"], first["ref"], first["domain"], first["doc"]) == ("source 1", "refA 1", "news", "n1")
    assert first["tgt"] == {"Ash": "Ash 1", "Beech": "Beech 1", "Cherry": "Cherry 1"}
    assert first["scores"]["Cherry"] == {"Fine": 0.2, "Flat": 1.0, "Rough": 10.0, "Wrong": 10.0, "human": -10.0}
    assert last["src"] == "source 5"
    assert last["scores"]["Ash"]["human"] == -1.0
    assert item.notes == ("1 segment is excluded: not every system was judged there",)


def test_items_without_a_human_score_still_have_metrics(database: Path, tmp_path: Path) -> None:
    export(database, tmp_path / "out", "subset2evaluate", "tiny25")
    items = [json.loads(line) for line in (tmp_path / "out" / "tiny25.en-sr_Cyrl_RS.jsonl").read_text().splitlines()]
    assert len(items) == 5
    assert set(items[0]["scores"]["Ash"]) == {"Fine", "Flat", "Rough", "Wrong"}


def test_unknown_names_are_refused(database: Path, tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="parquet"):
        export(database, tmp_path / "out", "parqet")
    with pytest.raises(QuestionError, match="tiny24"):
        export(database, tmp_path / "out", "csv", "tiny42")
    with pytest.raises(QuestionError, match="en-de"):
        export(database, tmp_path / "out", "csv", "tiny24", "de-en")
    (tmp_path / "file").write_text("x")
    with pytest.raises(SourceError, match="expected a folder"):
        export(database, tmp_path / "file")


@pytest.mark.slow
def test_wmt23_comes_back_from_parquet_and_from_the_layout(wmt23_database: Path, tmp_path: Path) -> None:
    """en-de has ratings and all levels; 4 counts and a checksum stand for the rows of each view."""
    totals = """
        SELECT 'score', count(*), count(value), sum(hash(metric, system, segment, value) % 1000003) FROM scores
        WHERE lp = 'en-de'
        UNION ALL
        SELECT 'human', count(*), count(value), sum(hash(human, system, segment, value) % 1000003) FROM human_scores
        WHERE lp = 'en-de'
        UNION ALL
        SELECT 'aggregate', count(*), count(value), sum(hash(scorer, system, level, unit, value) % 1000003)
        FROM aggregate_scores WHERE lp = 'en-de'
        UNION ALL
        SELECT 'rating', count(*), count(weight), sum(hash(scorer, system, segment, rater, category, severity, weight,
          span_start, span_end, side) % 1000003)
        FROM spans WHERE lp = 'en-de'
        UNION ALL
        SELECT 'metric', count(*), count(status), sum(hash(metric, base_metric, reference, status, levels) % 1000003)
        FROM metrics WHERE lp = 'en-de'
        UNION ALL
        SELECT 'text', count(*), count(text), sum(hash(kind, name, segment, text) % 1000003) FROM texts
        WHERE lp = 'en-de'
        ORDER BY 1
    """
    with Warehouse.open(wmt23_database) as warehouse:
        expected = warehouse.rows(totals)
    export(wmt23_database, tmp_path / "parquet", "parquet", "wmt23", "en-de")
    import_parquet(tmp_path / "parquet", tmp_path / "a.duckdb")
    export(wmt23_database, tmp_path / "layout", "mtme", "wmt23", "en-de")
    report = load([tmp_path / "layout"], tmp_path / "b.duckdb")
    assert report.is_clean, report.faults
    for path in ("a.duckdb", "b.duckdb"):
        with Warehouse.open(tmp_path / path) as warehouse:
            assert warehouse.rows(totals) == expected


@pytest.mark.slow
def test_load_takes_a_folder_of_exported_parquet_and_leaves_it_whole(tmp_path: Path) -> None:
    database, back = tmp_path / "scores.duckdb", tmp_path / "back.duckdb"
    first = load([tiny_layout(tmp_path / "files")], database)
    assert first.is_clean, first.faults
    export(database, tmp_path / "below" / "out")
    report = load([tmp_path / "below"], back)
    assert report.is_clean, report.faults
    (came,) = report.evalsets
    (before,) = first.evalsets
    assert (came.testset, came.lp, came.status) == ("tiny24", "en-de", "loaded")
    assert (came.n_files, came.n_scores) == (before.n_files, before.n_scores)
    assert came.n_missing == before.n_missing > 0
    query = "SELECT * FROM scores ORDER BY ALL"
    with Warehouse.open(database) as one, Warehouse.open(back) as other:
        assert one.rows(query) == other.rows(query)
    assert [item.status for item in load([tmp_path / "below"], back).evalsets] == ["unchanged"]
    (part,) = (tmp_path / "below" / "out").glob("score/**/*.parquet")
    part.write_bytes(part.read_bytes()[:-9])
    refused = load([tmp_path / "below"], tmp_path / "third.duckdb")
    assert [fault.found for fault in refused.faults] == [
        "not a complete export: 1 of 10 files differ from the manifest: "
        "score/testset=tiny24/lp=en-de/data.parquet; export it again, into a new folder"
    ]


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_no_single_bit_of_exported_parquet_changes_unnoticed(one_exported: Path, in_full: bool, tmp_path: Path) -> None:
    shutil.copytree(one_exported, tmp_path / "out")
    files = [*sorted((tmp_path / "out").rglob("*.parquet")), *[tmp_path / "out" / MANIFEST] * 5]
    rng = np.random.default_rng(16)
    for _ in range(60 if in_full else 30):
        path = files[rng.integers(len(files))]
        whole = path.read_bytes()
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        with pytest.raises(SourceError, match="export it again, into a new folder"):
            import_parquet(tmp_path / "out", tmp_path / "back.duckdb")
        path.write_bytes(whole)
    assert not (tmp_path / "back.duckdb").exists()
    import_parquet(tmp_path / "out", tmp_path / "back.duckdb")


def test_exported_parquet_without_its_manifest_is_refused_by_load(one_exported: Path, tmp_path: Path) -> None:
    shutil.copytree(one_exported, tmp_path / "out")
    (tmp_path / "out" / MANIFEST).unlink()
    report = load([tmp_path / "out"], tmp_path / "back.duckdb")
    assert len(report.faults) == 12
    assert {fault.found for fault in report.faults} == {"exported Parquet without scorehouse-export.json"}


@pytest.mark.slow
def test_files_beside_exported_parquet_are_not_passed_over_in_silence(one_exported: Path, tmp_path: Path) -> None:
    shutil.copytree(one_exported, tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    report = load([tmp_path / "out"], tmp_path / "back.duckdb")
    assert report.is_clean
    assert report.skipped == [(str(tmp_path / "out" / "notes.txt"), "next to exported Parquet")]


@pytest.mark.slow
@pytest.mark.parametrize("form", sampled(2, "each format: 2 seconds", ["parquet", "csv", "mtme", "subset2evaluate"]))
def test_an_export_that_ends_early_leaves_whole_files_and_a_folder_that_load_refuses(
    form: str, in_full: bool, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some of the files: what stands under its own name is what a complete export writes."""
    export(database, tmp_path / "whole", form, "tiny24", "en-de")
    whole = _tree(tmp_path / "whole")
    replace = Path.replace
    for last in (1, 2, 9, 25) if in_full else (1, 9)[: 1 + (len(whole) > 8)]:
        n_left = last

        def ending(path: Path, target: Path) -> Path:
            nonlocal n_left
            n_left -= 1
            if not n_left:
                raise KeyboardInterrupt
            return replace(path, target)

        folder = tmp_path / f"cut{last}"
        monkeypatch.setattr(Path, "replace", ending)
        try:
            export(database, folder, form, "tiny24", "en-de")
        except KeyboardInterrupt:
            found = _tree(folder)
            found.pop(UNFINISHED_EXPORT, None)
            assert all(whole[name] == data for name, data in found.items() if name != MANIFEST)
            if found:
                report = load([folder], tmp_path / "back.duckdb")
                assert [fault.found for fault in report.faults] == ["an unfinished export"]
                assert not report.evalsets
        monkeypatch.undo()
        export(database, folder, form, "tiny24", "en-de")
        assert _tree(folder) == whole
    assert not (tmp_path / "back.duckdb").exists() or not load([tmp_path / "cut1"], tmp_path / "back.duckdb").faults


def test_a_file_that_can_t_be_written_leaves_the_one_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a" / "scores.csv"
    with replacing_file(path) as fresh:
        fresh.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing_file(path) as fresh:
        fresh.write_text("ne\ud800")
    assert _tree(tmp_path) == {"a/scores.csv": b"old"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("IO Error: Failed to scan DICT_FSST string segment. Database file appears to be corrupted.", SchemaError),
        ("IO Error: Could not write to file: No such file or directory", OSError),
    ],
)
def test_a_damaged_warehouse_is_not_taken_for_a_folder_that_cannot_be_written(
    words: str, expected: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Warehouse, query: str, parameters: object = None) -> list[tuple[int]]:
        with answered(tmp_path / "w.duckdb"):
            raise duckdb.IOException(words)
        return []

    monkeypatch.setattr(Warehouse, "rows", refuse)
    with duckdb.connect() as connection, pytest.raises(expected):
        copy(Warehouse(connection, tmp_path / "w.duckdb"), "SELECT 1", tmp_path / "x.csv", "FORMAT csv")
