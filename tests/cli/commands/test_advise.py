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


@pytest.mark.slow
def test_the_first_sentence_names_the_first_metric_of_the_table(scorehouse: Scorehouse) -> None:
    said, header, _, first, *_ = scorehouse("advise", "cs-uk", "-m", "pearson").out.splitlines()
    assert header.startswith("metric ")
    assert first.split()[0] in said


def test_sets_without_an_answer_are_one_line(scorehouse: Scorehouse) -> None:
    ran = scorehouse("advise", "all", "all", "-m", "pearson", "--domain", "no such*")
    assert ran.code == 2
    assert ran.err.startswith("error: none of ")
    assert "unknown domain 'no such*'" in ran.err
    assert len(ran.err) < 400
