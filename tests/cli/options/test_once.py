"""Options with one value, given several times: refused by every command, and by the program before it."""

from typing import Any

from cli.main import program
from tests.cli.running import Scorehouse, refused
from tests.helpers import together

_PROGRAM: Any = program()


def _options() -> list[Any]:
    """The words before an option, and the option."""
    found: list[tuple[tuple[str, ...], Any]] = [((), one) for one in _PROGRAM.params]
    found += [((name,), one) for name, command in _PROGRAM.commands.items() for one in command.params]
    return [
        one
        for one in found
        if one[1].param_type_name == "option" and not one[1].multiple and (not one[1].is_flag or one[1].secondary_opts)
    ]


@together(("before", "option"), _options())
def test_an_option_with_one_value_is_taken_once(before: tuple[str, ...], option: Any, scorehouse: Scorehouse) -> None:
    first = option.opts[0]
    if option.is_flag:
        opposite = option.secondary_opts[0]
        refused(scorehouse(*before, first, opposite), 2, f"{first} and {opposite} exclude each other")
        return
    for flag in option.opts:
        line = refused(scorehouse(*before, first, "a", flag, "b"), 2)
        assert line == f"error: {first} is given twice: it takes one value"


def test_there_are_options_to_repeat() -> None:
    assert len(_options()) > 200


def test_three_times_are_counted_and_a_flag_may_be_repeated(scorehouse: Scorehouse) -> None:
    three = scorehouse("rank", "sim24", "en-de", "-m", "pa", *("--seed", "1") * 3)
    assert refused(three, 2) == "error: --seed is given 3 times: it takes one value"
    ran = scorehouse("rank", "sim24", "en-de", "-m", "pa", "-m", "pearson", "--own", "--own")
    assert ran.code == 0


def test_help_may_stand_beside_anything(scorehouse: Scorehouse) -> None:
    assert scorehouse("rank", "--help", "--seed", "1", "--seed", "2").code == 0
