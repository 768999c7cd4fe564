"""Values that no option can take: each command ends in one line that names the option, and at once."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import pytest

from cli.main import COMMANDS, program
from metaeval.question import Field, fields_of
from metaeval.questions import HOMES, question_named
from tests.cli.running import Ran, Scorehouse, refused
from tests.cli.words import SLICE, WORDS
from tests.helpers import but_slow, together

HUGE = ("10000000000000", "1" + 30 * "0")
ANSWERED = {"seed", "n", "at_most", "least_metrics", "max_rows", "details"}
"""Whole numbers that may be as large as one likes: they choose, and size nothing."""


@dataclass(frozen=True)
class Taken:
    """An option that takes a value: its flag, its name, its type, and its limits where it is a number."""

    flag: str
    name: str
    kind: Any
    least: float | None = None
    most: float | None = None
    limits: str = ""


def _taken(command: str) -> Iterator[Taken]:
    """The options of a command that take a value."""
    group: Any = program([command])
    fields = fields_of(question_named(command)) if command in HOMES else {}
    hints = {name: get_args(one.annotation) for name, one in inspect.signature(COMMANDS[command]).parameters.items()}
    for one in group.commands[command].params:
        if one.param_type_name != "option" or one.is_flag or one.name not in hints:
            continue
        if (field := fields.get(one.name.removesuffix("_by_flag"))) is not None:
            said = field.option
            yield Taken(one.opts[0], one.name, field.element, said.least, said.most, field.limits)
            continue
        hint, info = hints[one.name][0], hints[one.name][1]
        field = getattr(getattr(info, "parser", None), "__self__", None)
        if isinstance(field, Field):
            yield Taken(one.opts[0], one.name, field.kind, field.option.least, field.option.most, field.limits)
        else:
            assert not {int, float} & {hint, *get_args(hint)}, one.name
            yield Taken(one.opts[0], one.name, hint)


def _numbers(command: str) -> list[Taken]:
    return [one for one in _taken(command) if one.kind in (int, float)]


def test_every_command_has_words() -> None:
    assert set(WORDS) == set(COMMANDS)
    assert sum(len(list(_taken(command))) for command in COMMANDS) > 250


@together("command", COMMANDS)
def test_an_empty_text_is_no_value(command: str, scorehouse: Scorehouse) -> None:
    for flag in (one.flag for one in _taken(command)):
        line = refused(scorehouse(command, flag, ""), 2)
        if flag == "--parameter":
            assert line == "error: -p '': expected NAME VALUE"
        else:
            assert line == f"error: {flag} '': expected a value, not an empty text"


@together("command", COMMANDS)
def test_an_option_without_its_value_is_refused_with_the_command_s_help(command: str, scorehouse: Scorehouse) -> None:
    for flag in (one.flag for one in _taken(command)):
        line = refused(scorehouse(command, flag), 2, flag)
        assert line.endswith(f"(see `scorehouse {command} --help`)") or flag == "--parameter"


@together("flag", ["--db", "--format", "-o"])
def test_neither_before_a_command(flag: str, scorehouse: Scorehouse) -> None:
    refused(scorehouse(flag, "", "list", "testsets"), 2, "''")


@together("command", COMMANDS)
@together("value", ["nan", "inf", "-inf", "many", "1,5", "1e"])
def test_what_is_no_finite_number_is_refused(command: str, value: str, scorehouse: Scorehouse) -> None:
    for one in _numbers(command):
        words = (f"{one.flag}{value}",) if len(one.flag) == 2 else (f"{one.flag}={value}",)
        line = refused(scorehouse(command, *WORDS[command], *words), 2)
        kind = "a whole number" if one.kind is int else "a finite number"
        assert line.startswith(f"error: {one.flag} ")
        assert f": expected {kind}" in line


@together("command", COMMANDS)
def test_a_number_beyond_the_limits_is_refused_with_them(command: str, scorehouse: Scorehouse) -> None:
    for one in _numbers(command):
        for value, limit in ((one.least, -1), (one.most, 1)):
            if value is not None:
                line = refused(scorehouse(command, *WORDS[command], one.flag, str(value + limit)), 2)
                assert line.startswith(f"error: {one.flag} ")
                assert line.endswith(f" number {one.limits}")


@together("command", COMMANDS)
@together("value", HUGE)
def test_a_number_that_sizes_the_work_has_a_limit(command: str, value: str, scorehouse: Scorehouse) -> None:
    for one in _numbers(command):
        if one.kind is int and one.name not in ANSWERED:
            refused(scorehouse(command, *WORDS[command], f"{one.flag}={value}"), 2, one.flag)


def test_every_number_is_read_alike() -> None:
    assert sum(len(_numbers(command)) for command in COMMANDS) > 60


def _ends(ran: Ran) -> bool:
    return ran.code == 0 or (ran.code == 2 and len(ran.notes) == 1)


@together(
    ("command", "words"),
    [
        ("segments", ("-n",)),
        ("deltas", ("sim24", "cs-uk", "--hard", "--at-most")),
        ("deltas", ("sim24", "cs-uk", "--hard", "--least-metrics")),
        ("sql", ("--max-rows",)),
        ("counts", ("--segments",)),
        ("show", ("sim24", "cs-uk")),
        ("rank", ("--intervals", "--draws", "3", "--seed")),
    ],
)
@pytest.mark.parametrize("value", but_slow(HUGE[:1], HUGE))
def test_a_number_that_chooses_may_be_as_large_as_one_likes(
    command: str, words: tuple[str, ...], value: str, scorehouse: Scorehouse
) -> None:
    shown = f"1-{value}" if words[-1] == "--segments" else value
    before = () if command in ("deltas", "show") else WORDS[command]
    assert _ends(scorehouse(command, *before, *words, shown))


@together("n", ["1000001", *HUGE])
def test_the_signs_of_spa_have_a_limit(n: str, scorehouse: Scorehouse) -> None:
    line = refused(scorehouse("rank", *SLICE, "-m", f"spa(n={n})"), 2)
    assert line == f"error: measure 'spa(n={n})': found n={n}, expected a whole number of at most 1,000,000, or inf"


@together("word", ["nan", "0", "-1", "1.5", "one", "\u00b2"])
def test_a_segment_is_a_number(word: str, scorehouse: Scorehouse) -> None:
    line = refused(scorehouse("show", *SLICE, "--", word), 2)
    assert line.endswith(": expected a whole number from 1 on")


def test_a_file_of_sql_that_is_not_there_is_named_with_its_option(scorehouse: Scorehouse) -> None:
    line = refused(scorehouse("sql", "-f", "nofile"), 2)
    assert line == "error: --file nofile: cannot be read: No such file or directory"


def test_shares_of_agreement_are_named_as_the_option_is(scorehouse: Scorehouse) -> None:
    line = refused(scorehouse("deltas", *SLICE, "simBLEU", "--agreement", "1"), 2)
    assert line == "error: agreement 1.0: expected shares from 0.5 to below 1"
