"""Exports whose checksums are right and whose rows are not: no door answers from them or writes anything."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

from tests.helpers import tiny_layout
from tests.warehouse.forged_exports import rewrite, rows_of
from warehouse import SourceError, Warehouse, load
from warehouse.database.updating import writing
from warehouse.export import export
from warehouse.export.opening import open_export
from warehouse.export.parquet import TABLES, read_manifest

PLACE, OTHER = ("tiny24", "en-de"), ("tiny24", "en-zh")
_MORE = """
    INSERT INTO system_spelling SELECT system_id, 'the ' || name, 'rule' FROM system;
    INSERT INTO judgement
    SELECT row_number() OVER (), vector_id, 1, 'r', 'i', 1.5, 1, TIMESTAMP '2024-01-01', 'valid'
    FROM vector
    WHERE level = 'seg';
    INSERT INTO span SELECT judgement_id, 'c', 'major', 5.0, 0, 1, false, 'major' FROM judgement;
    INSERT INTO preference
    SELECT v.vector_id, w.vector_id, 1, 1, 'r', 'a', false
    FROM vector AS v
    JOIN vector AS w ON w.evalset_id = v.evalset_id AND w.scorer_id = v.scorer_id AND w.system_id > v.system_id
    WHERE v.level = 'seg' AND w.level = 'seg';
"""
"""Rows of the tables that are empty otherwise."""
_ALONE = ("system_spelling", "entry", "segment_text", "span", "preference")
"""Tables whose rows nothing else mentions or counts: only the manifest knows how many there are."""
_CONSTRAINED = """
    SELECT table_name, constraint_type, unnest(constraint_column_names)
    FROM duckdb_constraints()
    WHERE schema_name = 'internal' AND constraint_type IN ('CHECK', 'NOT NULL')
"""
_IDENTIFIED = ("_id", "vector_a", "vector_b")  # ends of the names of columns that name rows
_NUMBERS = (float("nan"), float("inf"), -float("inf"), 1e101)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two evaluation sets with rows in every table; copy it before changing it."""
    folder = tmp_path_factory.mktemp("checks")
    layouts = [tiny_layout(folder / "layout"), tiny_layout(folder / "layout", lp=OTHER[1], facts=False)]
    assert load(layouts, folder / "w.duckdb").is_clean
    with duckdb.connect() as connection, writing(folder / "w.duckdb", connection):
        connection.execute(_MORE)
    export(folder / "w.duckdb", folder / "exported")
    assert all(partition.files.keys() == TABLES.keys() for partition in read_manifest(folder / "exported").values())
    return folder / "exported"


@pytest.fixture(scope="module")
def constrained(exported: Path) -> set[tuple[str, str, str]]:
    """Tables, CHECK or NOT NULL, and columns."""
    with Warehouse.open(exported.parent / "w.duckdb") as warehouse:
        return {*warehouse.rows(_CONSTRAINED)}


def _changed(rows: pl.DataFrame, column: str, value: object) -> pl.DataFrame:
    """With another value in the middle of a column; the file's bounds of the column leave NaN out."""
    values = [*rows[column]]
    values[len(values) // 2] = value
    return rows.with_columns(pl.Series(column, values, rows.schema[column]))


def forgeries(
    table: str, rows: pl.DataFrame, other: pl.DataFrame, constrained: set[tuple[str, str, str]]
) -> Iterator[tuple[str, pl.DataFrame, int | None]]:
    """What is forged, the rows then, and their number in the manifest; None for the right one.

    other: the rows of another evaluation set.
    """
    yield "more rows in the manifest", rows, rows.height + 1
    yield "a row removed", rows[1:], rows.height
    yield "a row repeated", pl.concat([rows[:1], rows]), rows.height
    yield "no rows", rows[:0], rows.height
    if not other.equals(rows):  # all may have the same scorers
        yield "rows of another evaluation set", other, None
    yield "a column more", rows.with_columns(more=pl.lit(1)), None
    if table not in _ALONE:
        yield "a row removed and not counted", rows[1:], None
        yield "no rows, none counted", rows[:0], None
    if table != "span":
        yield "a row repeated and counted", pl.concat([rows[:1], rows]), None
        if rows.height > 1:
            yield "rows in another order", rows.reverse(), None
    for name, kind in rows.schema.items():
        type_of_others = pl.Int64 if kind == pl.String else pl.String
        yield f"no column {name}", rows.drop(name), None
        yield f"{name} of another type", rows.with_columns(pl.col(name).cast(type_of_others, strict=False)), None
        yield f"a list of {name}", rows.with_columns(pl.concat_list(name)), None
        if (table, "NOT NULL", name) in constrained:
            yield f"no {name}", _changed(rows, name, None), None
        if (table, "CHECK", name) in constrained and kind == pl.String:
            yield f"{name} ghost", _changed(rows, name, "ghost"), None
        if name.endswith(_IDENTIFIED) or (name == "segment" and table != "judgement"):
            for number in (-1, 0, 999_999):
                yield f"{name} {number}", _changed(rows, name, number), None
        if kind == pl.Float64:
            for value in _NUMBERS:
                yield f"{name} {value}", _changed(rows, name, value), None
        if name in ("n_values", "n_missing") and table == "vector":
            yield f"another {name}", _changed(rows, name, 3), None


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_forged_rows_are_refused_in_one_line_by_both_doors_and_nothing_is_written(
    exported: Path, constrained: set[tuple[str, str, str]], tmp_path: Path, in_full: bool, table: str
) -> None:
    folder, database = tmp_path / "forged", tmp_path / "new.duckdb"
    rows, others = (rows_of(exported, table, place) for place in (PLACE, OTHER))
    every = [*forgeries(table, rows, others, constrained)]
    passed = []
    for what, forged, n_rows in every if in_full else every[[*TABLES].index(table) :: 24]:
        shutil.copytree(exported, folder)
        rewrite(folder, table, PLACE, forged, n_rows)
        opened, report = _opened(folder), load([folder], database)
        found = [str(fault) for fault in report.faults]
        if "\n" in opened or found != [opened] or report.evalsets or database.exists():
            passed.append(f"{what}: {opened!r}, {found}")
            database.unlink(missing_ok=True)
        shutil.rmtree(folder)
    assert not passed, "\n".join(passed)


def _opened(folder: Path) -> str:
    """What is said of a folder that is not opened; "" for one that is."""
    try:
        open_export(folder).close()
    except SourceError as error:
        return str(error)
    return ""


@pytest.mark.slow
def test_an_export_of_which_only_some_evaluation_sets_are_new_is_imported_in_part(
    exported: Path, tmp_path: Path
) -> None:
    database, part = tmp_path / "w.duckdb", tmp_path / "part"
    export(exported.parent / "w.duckdb", part, "parquet", *OTHER)
    assert [one.status for one in load([part], database).evalsets] == ["loaded"]
    assert [one.status for one in load([exported], database).evalsets] == ["loaded", "unchanged"]
    query = "SELECT * FROM scores ORDER BY ALL"
    with Warehouse.open(database) as found, Warehouse.open(exported.parent / "w.duckdb") as expected:
        assert found.rows(query) == expected.rows(query)
        for table in ("judgement", "span", "preference", "system_spelling"):
            count = f"SELECT count(*) FROM {table}"
            assert found.rows(count) == expected.rows(count)
