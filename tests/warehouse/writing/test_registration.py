"""What is known of metrics, languages and issues comes into the warehouse with the evaluation sets."""

from pathlib import Path

import duckdb
import pytest

from tests.helpers import tiny_layout
from warehouse import Warehouse, load
from warehouse.database.updating import writing
from warehouse.facts.issues import issues
from warehouse.writing.evalsets import register


@pytest.mark.slow
def test_registering_an_evaluation_set_writes_families_languages_and_issues_once(tmp_path: Path) -> None:
    database = tmp_path / "w.duckdb"
    assert load([tiny_layout(tmp_path, testset="wmt23", facts=False)], database).is_clean
    with duckdb.connect() as connection:
        for _ in range(2):
            with writing(database, connection):
                connection.execute("BEGIN")
                register(connection, [1])
                connection.execute("COMMIT")
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows("SELECT base_metric, family, kind, is_known FROM metric_facts ORDER BY base_metric")
        assert rows == [
            ("Fine", "Fine", "unknown", False),
            ("Flat", "Flat", "unknown", False),
            ("Only", "Only", "unknown", False),
            ("Rough", "Rough", "unknown", False),
            ("Wrong", "Wrong", "unknown", False),
        ]
        families = warehouse.rows("SELECT DISTINCT family FROM scorer WHERE kind = 'metric' ORDER BY family")
        assert families == [("Fine",), ("Flat",), ("Only",), ("Rough",), ("Wrong",)]
        assert warehouse.rows("SELECT * FROM language ORDER BY code") == [
            ("de", "German", "Latn", True),
            ("en", "English", "Latn", True),
        ]
        known = [issue for issue in issues() if issue.testset == "wmt23"]
        assert warehouse.rows("SELECT count(*) FROM known_issues") == [(len(known),)]
