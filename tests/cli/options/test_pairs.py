"""Language pairs as users write them: one pair in every command that takes one."""

from typing import Any

from cli.main import program
from metaeval.doors import as_stored
from metaeval.options import Run
from metaeval.question import fields_of, made
from metaeval.questions import HOMES, question_named
from tests.cli.running import Scorehouse
from tests.helpers import together

_PAIRS: list[Any] = [
    one
    for name, command in program().commands.items()
    for one in command.params
    if one.name in ("lp", "lps", "only_lp") and name not in ("load", "compute", *HOMES)  # readers do it there
]


@together("parameter", _PAIRS)
def test_every_command_takes_a_pair_in_other_codes(parameter: Any) -> None:
    names = ["eng-zho_Hans"] if parameter.multiple else "eng-zho_Hans"
    assert parameter.callback(None, parameter, names) == (["en-zh"] if parameter.multiple else "en-zh")


@together("name", [name for name in HOMES if "lp" in fields_of(question_named(name))])
def test_every_question_takes_a_pair_in_other_codes(name: str) -> None:
    known = fields_of(question_named(name))
    needed = {"metric": "A", "first": "A", "second": "B", "segment": 1, "testset": "a", "before": "b", "rules": "wmt24"}
    needed |= {"item": "table-1", "what": "metrics"}
    given = {one: value for one, value in needed.items() if one in known} | {"lp": "eng-zho_Hans"}
    asked = as_stored(made(question_named(name), given), Run(_nothing))
    assert asked.lp in ("en-zh", ("en-zh",))  # type: ignore[attr-defined]


def _nothing() -> Any:
    raise AssertionError("nothing is looked up")


def test_rank_answers_for_the_pair(scorehouse: Scorehouse) -> None:
    found = [scorehouse("rank", "sim24", lp, "-m", "pa", "--format", "json") for lp in ("en-de", "eng-deu")]
    assert found[0].code == 0
    assert found[0].out == found[1].out
