"""A query of the program itself that DuckDB refuses is an error, not an evaluation set without an answer."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from metaeval.questions import QUESTIONS, question_named
from metaeval.results.run import Run
from tests.cli.running import Scorehouse, refused
from tests.helpers import but_slow
from warehouse import QuestionError, Warehouse

SEVERAL = (
    "counts all --by system",
    "means all all --status all",
    "compare sim24 all -m pa --resamples 20",
    "thresholds all all",
    "systems all --resamples 20",
    "rank all all -m pa -m acc_eq(by=item)",
    "rank sim24 all -m pa --significance --ranges --resamples 30",
    "trend all all --resamples 20",
    "protocol all --matrix",
    "deltas all simBLEU --resamples 20",
    "autorank sim24 all",
    "sample sim24 all --size 5 --method random",
    "sample all --evaluate --selections 2",
    "advise all -m pa",
    "correlations sim24 all",
    "scatter sim24 all simBLEU",
    "segments sim24 all simBLEU -n 3",
    "spans sim24 all",
    "annotators sim24 all",
    "cutoff all all simBLEU --good -1",
    "judges all all",
    "noise all all simBLEU --simulations 2",
    "plan all all simBLEU Dice-src -m pa --simulations 20 --resamples 20",
    "show sim24 all 1",
)
"""Questions over several evaluation sets."""


_RANK, _TREND = "rank all all -m pa", "trend all all --resamples 20"


class _Queries:
    """The program's queries about evaluation sets, of which one can be made wrong."""

    def __init__(self) -> None:
        self.asked: dict[str, None] = {}
        self.wrong: Callable[[str], bool] = lambda query: False
        self.is_within = False

    def worded(self, query: str) -> str:
        if not self.is_within:
            return query
        self.asked.setdefault(query)
        return f"SELECT no_such_column FROM ({query.rstrip().rstrip(';')}\n)" if self.wrong(query) else query


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> _Queries:
    known = _Queries()
    for name in ("rows", "columns", "frame"):
        asked = getattr(Warehouse, name)

        def ask(self: Warehouse, query: str, parameters: Mapping[str, object] | None = None, asked: Any = asked) -> Any:
            return asked(self, known.worded(query), parameters)

        monkeypatch.setattr(Warehouse, name, ask)
    each = Run.each

    def watched(self: Run, work: Any, places: Any, what: str = "", **more: Any) -> Iterator[Any]:
        def within(run: Run, testset: str, lp: str) -> Any:
            known.is_within = True
            try:
                return work(run, testset, lp)
            finally:
                known.is_within = False

        yield from each(self, within, places, what, **more)

    monkeypatch.setattr(Run, "each", watched)
    return known


def test_every_question_over_several_evaluation_sets_is_asked_here() -> None:
    of_several = {name for name in QUESTIONS if question_named(name).by_evalset}
    assert of_several == {words.split()[0] for words in SEVERAL}


@pytest.mark.parametrize("words", but_slow({_RANK, _TREND}, ["counts all --by system", _RANK, _TREND]))
def test_a_wrong_query_of_the_program_ends_the_command(
    scorehouse: Scorehouse, exported_evalsets: Path, queries: _Queries, words: str
) -> None:
    queries.wrong = lambda query: True
    ran = scorehouse(*words.split(), "--format", "csv", "--from", exported_evalsets, "-q")
    refused(ran, 4, "a query of scorehouse itself failed", "no_such_column")


@pytest.mark.slow
def test_each_wrong_query_ends_every_question(
    scorehouse: Scorehouse, exported_evalsets: Path, queries: _Queries, in_full: bool
) -> None:
    """In a question the first query about an evaluation set is wrong; and each query in the first that asks it.

    In every third question, with --all in every one.
    """
    known = set[str]()
    for words in SEVERAL[:: 1 if in_full else 3]:
        asked = (*words.split(), "--format", "csv", "--from", exported_evalsets, "-q")
        queries.asked.clear()
        queries.wrong = lambda query: False
        assert scorehouse(*asked).code in (0, 2), words
        for query in [one for number, one in enumerate(queries.asked) if not number or one not in known]:
            queries.wrong = query.__eq__
            refused(scorehouse(*asked), 4, "a query of scorehouse itself failed", "no_such_column")
        known.update(queries.asked)
    assert len(known) > 12


def test_a_wrong_query_of_a_user_is_a_wrong_question(simulated_warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match="no_such_column"):
        simulated_warehouse.sql("SELECT no_such_column FROM scores")
