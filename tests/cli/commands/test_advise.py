"""`advise` as a user runs it."""

import polars as pl
import pytest

from metaeval.questions.advise import _most_often
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


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"A": (1, 1)}, ""),
        ({"A": (1, 2), "B": (1, 1)}, "No metric is among the best in most of its sets; A is in 1 of 2."),
        ({"A": (0, 3)}, "No metric is among the best in most of its sets."),
        ({"A": (2, 3), "B": (2, 2)}, "B is among the best in both of its sets."),
        ({"A": (3, 4), "B": (2, 2)}, "A is among the best in 3 of its 4 sets."),
        ({"A": (3, 3)}, "A is among the best in all 3 of its sets."),
    ],
)
def test_it_says_whether_any_metric_is_often_among_the_best(counts: dict[str, tuple[int, int]], said: str) -> None:
    rows = [{"metric": name, "n_best": n_best, "n_sets": n_sets} for name, (n_best, n_sets) in counts.items()]
    assert _most_often(pl.DataFrame(rows)) == said


def test_sets_without_an_answer_are_one_line(scorehouse: Scorehouse) -> None:
    ran = scorehouse("advise", "all", "all", "-m", "pearson", "--domain", "no such*")
    assert ran.code == 2
    assert ran.err.startswith("error: none of ")
    assert "unknown domain 'no such*'" in ran.err
    assert len(ran.err) < 400
