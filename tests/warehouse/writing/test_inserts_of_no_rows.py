"""Inserts of no rows: DuckDB shows a table's next large insert in the same transaction to nobody until it is reopened.

Seen with 1.4.5 and 2.0.0, from one row group (122,880 rows) on.
"""

from pathlib import Path

import pytest

from warehouse import Warehouse, load


@pytest.mark.long("125,000 scores: 1 second")
def test_line_numbers_that_come_later_renumber_more_scores_than_one_row_group_holds(tmp_path: Path) -> None:
    places = [(f"doc.{document}", number) for document in range(700) for number in range(1, 11)]
    scores, details = tmp_path / "submissions" / "TER.seg.score", tmp_path / "details" / "de-en.txt"
    rows = [
        f"TER\tde-en\tnewstest2020\tnewstest2020\tsystem.{system}\t{document}\t{number}\t-0.{system + number:03d}\n"
        for system in range(20)
        for document, number in reversed(places)
    ]
    lines = [f"{n}\tnewstest2020\tde-en\t{doc}\t{number}\n" for n, (doc, number) in enumerate(places, start=1)]
    for path, text in ((scores, rows), (details, lines)):
        path.parent.mkdir()
        path.write_text("".join(text))
    database = tmp_path / "w.duckdb"
    assert load([scores], database).is_clean
    report = load([scores, details], database)
    assert report.is_clean, report.faults
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT count(*), count(value) FROM score") == [(140_000, 140_000)]
        assert warehouse.rows("SELECT document, value FROM scores WHERE system = 'system.3' AND segment = 12") == [
            ("doc.1", -0.005)
        ]
