"""`advise` as a user runs it."""

import pytest

from tests.cli.running import Scorehouse


@pytest.mark.slow
def test_the_newest_year_comes_first_and_the_table_has_a_column_for_each_set(scorehouse: Scorehouse) -> None:
    ran = scorehouse("advise", "cs-uk", "-m", "pearson", "--format", "csv")
    years = [int(line.split(",")[2]) for line in ran.out.splitlines()[1:]]
    assert years == sorted(years, reverse=True)
    assert len(set(years)) > 1
    header = scorehouse("advise", "cs-uk", "-m", "pearson").table[0].split()
    assert header[:4] == ["metric", "ref", "kind", "best"]
    assert next(word for word in header[4:] if word.startswith("sim")) == "sim24"
