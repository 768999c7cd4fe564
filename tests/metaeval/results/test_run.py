"""Evaluation sets are gone through with the warehouse open, and closed where others may write."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from metaeval.results.run import Run
from warehouse.errors import QuestionError

PLACES = [("wmt23", lp) for lp in ("en-de", "he-en", "zh-en")]


class Opening:
    """Counts how often the warehouse is opened, and whether it is open."""

    def __init__(self) -> None:
        self.n, self.is_open = 0, False

    @contextmanager
    def __call__(self) -> Iterator[Any]:
        assert not self.is_open
        self.n, self.is_open = self.n + 1, True
        try:
            yield object()
        finally:
            self.is_open = False


def work(run: Run, testset: str, lp: str) -> str:
    with run.opened():
        if lp == "he-en":
            raise QuestionError("no human score")
        return lp


@pytest.mark.parametrize(("seconds", "n_opened"), [(-1.0, 3), (1e6, 1)])
def test_results_follow_while_the_warehouse_is_closed_and_in_order(seconds: float, n_opened: int) -> None:
    opening, seen, said = Opening(), [], []
    run = Run(opening, Path("w.duckdb"), lambda what, done, total: said.append((what, done, total)))
    for found in run.each(work, PLACES, "pa", seconds=seconds):
        assert not opening.is_open
        seen.append(found if isinstance(found, str) else found.text)
    assert seen == ["en-de", "no human score", "zh-en"]
    assert opening.n == n_opened
    assert said == [*((f"pa of wmt23 {lp}", n, 3) for n, (_, lp) in enumerate(PLACES)), ("pa", 3, 3)]


def test_a_warehouse_in_which_nothing_is_stored_stays_open() -> None:
    opening = Opening()
    for _ in Run(opening).each(work, PLACES, seconds=-1.0):
        assert opening.is_open
    assert opening.n == 1


def test_work_that_stores_its_results_opens_the_warehouse_itself() -> None:
    opening = Opening()
    assert len(list(Run(opening, Path("w.duckdb")).each(work, PLACES, is_storing=True))) == 3
    assert opening.n == 3
