"""The demo's warehouse holds the same values, to the last digit, whatever Python, processor and threads made it.

Other Pythons cannot be called from a test, as they may not have the libraries. So what is expected is here, as
checksums of all values, and the suite's run on each version of Python compares its own with them. The checksum of the
files tells a change of the simulation, after which all are renewed, from a change in what is made of the same files.
"""

import hashlib
from pathlib import Path

import duckdb
import polars as pl
import pytest

from warehouse.database.connection import Warehouse
from warehouse.database.updating import apply_migrations

_NAMED = """
JOIN evalset AS e ON e.evalset_id = v.evalset_id
JOIN testset AS t ON t.testset_id = e.testset_id
JOIN scorer AS sc ON sc.scorer_id = v.scorer_id
JOIN system AS y ON y.system_id = v.system_id
"""
QUERIES = {
    "score": f"""
        SELECT t.name AS testset, e.lp, sc.kind, sc.name AS scorer, y.name AS system, s.segment, s.value
        FROM score AS s JOIN vector AS v ON v.vector_id = s.vector_id {_NAMED} ORDER BY ALL
        """,
    "aggregate_score": f"""
        SELECT t.name AS testset, e.lp, sc.kind, sc.name AS scorer, y.name AS system, v.level, a.unit, a.value
        FROM aggregate_score AS a JOIN vector AS v ON v.vector_id = a.vector_id {_NAMED} ORDER BY ALL
        """,
    "judgement": f"""
        SELECT t.name AS testset, e.lp, sc.name AS scorer, y.name AS system, j.segment, j.rater, j.value
        FROM judgement AS j JOIN vector AS v ON v.vector_id = j.vector_id {_NAMED} ORDER BY ALL
        """,
    "system_scores": "SELECT testset, lp, kind, scorer, system, submitted, mean FROM system_scores ORDER BY ALL",
}
EXPECTED = {
    "files": "74949ab0e51dde19",
    "score": "1e14c82b80ffdf9d",
    "aggregate_score": "1b484c082e4e391e",
    "judgement": "d096f4eb9fa4d1f6",
    "system_scores": "5ded2591a70f0f76",
}


def _checksum(frame: pl.DataFrame) -> str:
    """Of names and of floats to the last bit, column by column."""
    found = hashlib.sha256()
    for column in frame:
        if column.dtype.is_float():
            found.update(column.is_null().to_numpy().tobytes())
            found.update(column.fill_null(0.0).to_numpy().astype("<f8").tobytes())
        else:
            found.update(column.cast(pl.String).fill_null("None").str.join("\n").item().encode())
    return found.hexdigest()[:16]


def test_the_simulated_files_are_the_expected_ones(simulated_database: Path) -> None:
    task, found = simulated_database.parent / "task", hashlib.sha256()
    for path in sorted(path for path in task.rglob("*") if path.is_file()):
        found.update(path.relative_to(task).as_posix().encode() + b"\0" + path.read_bytes())
    assert found.hexdigest()[:16] == EXPECTED["files"]


@pytest.mark.slow
@pytest.mark.parametrize("table", QUERIES)
def test_every_value_is_the_same_on_every_python(simulated_warehouse: Warehouse, table: str) -> None:
    assert _checksum(simulated_warehouse.sql(QUERIES[table])) == EXPECTED[table]


@pytest.mark.long("three loads: 1 second")
def test_means_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    database = tmp_path / "long.duckdb"
    with duckdb.connect(database) as connection:
        apply_migrations(connection, str(database))
        connection.execute(
            """
            INSERT INTO testset VALUES (1, 'long', 2024, NULL);
            INSERT INTO evalset (evalset_id, testset_id, lp, source_language, target_language, lp_base)
            VALUES (1, 1, 'en-de', 'en', 'de', 'en-de');
            INSERT INTO scorer (scorer_id, kind, name, base_name) VALUES (1, 'metric', 'M-src', 'M');
            INSERT INTO system (system_id, evalset_id, name, canonical_name, kind) VALUES (1, 1, 'A', 'A', 'mt');
            INSERT INTO vector VALUES (1, 1, 1, 1, 'seg', 1, 400000, 0, false);
            INSERT INTO score SELECT 1, n, hash(n) / 1e19 FROM range(1, 400001) AS r (n);  -- four row groups
            """
        )
    means = set()
    for threads in (1, 2, 4):
        with duckdb.connect(database, config={"threads": threads}) as connection:
            means |= {connection.execute("SELECT mean FROM system_scores").fetchone() for _ in range(3)}
    assert len(means) == 1
