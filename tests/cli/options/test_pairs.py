"""Language pairs as users write them: one pair in every command that takes one."""

from typing import Any

import pytest

from cli.main import program
from tests.cli.running import Scorehouse

_PAIRS: list[Any] = [
    pytest.param(one, id=f"{name} {one.name}")
    for name, command in program().commands.items()
    for one in command.params
    if one.name in ("lp", "lps", "only_lp") and name not in ("load", "compute")  # readers do it there
]


@pytest.mark.parametrize("parameter", _PAIRS)
def test_every_command_takes_a_pair_in_other_codes(parameter: Any) -> None:
    names = ["eng-zho_Hans"] if parameter.multiple else "eng-zho_Hans"
    assert parameter.callback(None, parameter, names) == (["en-zh"] if parameter.multiple else "en-zh")


def test_there_are_many() -> None:
    assert len(_PAIRS) > 25


def test_rank_answers_for_the_pair(scorehouse: Scorehouse) -> None:
    found = [scorehouse("rank", "sim24", lp, "-m", "pa", "--format", "json") for lp in ("en-de", "eng-deu")]
    assert found[0].code == 0
    assert found[0].out == found[1].out
