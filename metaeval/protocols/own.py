"""Rules of one's own, in a TOML file of the form of the official ones."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from metaeval.measures import parse_measure
from metaeval.protocols import Protocol, Rule
from warehouse import QuestionError
from warehouse.errors import unlisted

OWN = ".toml"
"""How the name of a file ends."""
_KEYS = ("tasks", "overall", "default_lps", "source")
_OVERALL = ("values", "ranks")


def own_protocol(path: Path) -> Protocol:
    """The protocol that a file has: `tasks`, a list of tables (`measure`, and what `Rule` has), and `overall`,
    `default_lps`, `source` where they are wanted. It is called as the file, and measures are in it since ever.

    Raises QuestionError: no such file, no TOML, no tasks, or a key or value that rules do not have.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise QuestionError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    tasks = data.get("tasks")
    if not isinstance(tasks, list) or not tasks or not all(isinstance(task, dict) for task in tasks):
        raise QuestionError(f'{path}: expected tasks = [{{ measure = "pa" }}, ...]')
    for key in data:
        if key not in _KEYS:
            raise QuestionError(f"{path}: {unlisted('key', key, _KEYS)}")
    if data.get("overall", "values") not in _OVERALL:
        raise QuestionError(f"{path}: {unlisted('overall', data['overall'], _OVERALL)}")
    lps = data.get("default_lps", [])
    if not isinstance(lps, list) or not all(isinstance(lp, str) for lp in lps):
        raise QuestionError(f'{path}: default_lps: expected a list of language pairs, such as ["en-de"]')
    return Protocol(
        name=path.name,
        year=0,
        rules=tuple(_rule(task, f"{path}, task {number}") for number, task in enumerate(tasks, start=1)),
        default_lps=tuple(lps),
        overall=data.get("overall", "values"),
        source=str(data.get("source", path.name)),
    )


def _rule(task: Mapping[str, Any], where: str) -> Rule:
    """Raises QuestionError: a key or a value that rules do not have."""
    known = [one.name for one in fields(Rule)]
    for key in task:
        if key not in known:
            raise QuestionError(f"{where}: {unlisted('key', key, known)}")
    if not isinstance(task.get("measure"), str):
        raise QuestionError(f'{where}: expected measure = "NAME"')
    try:
        measure = parse_measure(task["measure"])
    except QuestionError as error:
        raise QuestionError(f"{where}: {error}") from error
    hints = get_type_hints(Rule)
    for key in ("lps", "test", "outliers", "domains", "human_references"):
        values = [value for value in _words(hints[key]) if isinstance(value, str)]
        if key in task and task[key] not in values:
            raise QuestionError(f"{where}: {unlisted(key, task[key], values)}")
    weight = task.get("weight", 1)
    if weight not in ("n_lps", "halved") and (isinstance(weight, (str, bool)) or not weight > 0):
        raise QuestionError(f"{where}: weight {weight!r}: expected a number above 0, n_lps or halved")
    if not isinstance(task.get("early_stop", False), bool):
        raise QuestionError(f"{where}: early_stop: expected true or false")
    if (test := task.get("test")) is not None and test not in measure.tests:
        raise QuestionError(f"{where}: {unlisted(f'test of {measure}', test, measure.tests)}")
    return Rule(**{**task, "measure": measure})


def _words(hint: Any) -> list[object]:
    """The values of a closed set, None and sets within sets included."""
    found = get_args(hint)
    return [hint] if not found else [word for part in found for word in _words(part)]
