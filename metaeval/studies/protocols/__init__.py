"""The official protocols: measures, tests and weights with which the shared tasks scored metrics."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from metaeval.measures.measure import Measure
from metaeval.measures.options import Test
from metaeval.measures.registry import parse_measure
from warehouse import QuestionError
from warehouse.errors import unknown, unlisted

Outliers = Literal["organisers", "none"]


@dataclass(frozen=True)
class Rule:
    """One kind of task: a measure applied to each language pair or to all pooled.

    test: None = the measure's default; early_stop: early stopping of pairs of metrics. weight: of each
    task in the overall score; "n_lps" = number of language pairs; "halved" = see `tasks.halved_weights`.
    domains "each": the whole test set, then each domain. human_references "organisers": as the year ranked them;
    "out": never; "both": without them, and with them if there are several references. human: restricts the rule to
    language pairs with rankings (preferences), or with segment scores.
    """

    measure: Measure
    lps: Literal["each", "pooled"] = "each"
    test: Test | None = None
    early_stop: bool = False
    weight: float | Literal["n_lps", "halved"] = 1
    outliers: Outliers = "organisers"
    domains: Literal["all", "each"] = "all"
    human_references: Literal["organisers", "out", "both"] = "organisers"
    human: Literal["any", "preferences", "scores"] = "any"


@dataclass(frozen=True)
class Protocol:
    """The rules of one year. default_lps: its official language pairs; empty if only later years apply it.

    overall: the published overall score: a weighted mean of values, a weighted mean of ranks (lower is better), or
    nothing; then the mean over its tasks is shown instead. source: of these facts. outliers: language pairs of its test
    set whose outliers differ from those in the organisers' later toolkit; outliers_source: source of these. level: the
    level if only tasks of one level are selected. unchecked: published numbers that could not be checked, and why.
    """

    name: str
    year: int
    rules: tuple[Rule, ...]
    default_lps: tuple[str, ...] = ()
    overall: Literal["values", "ranks"] | None = None
    source: str = ""
    outliers: Mapping[str, Outliers] = field(default_factory=dict)
    outliers_source: str = ""
    level: Literal["sys", "seg"] | None = None
    unchecked: str = ""

    def of_level(self, level: Literal["sys", "seg"]) -> "Protocol":
        """The protocol with only the tasks of one level; their mean is not an official score.

        Raises QuestionError: it has none.
        """
        rules = tuple(rule for rule in self.rules if rule.measure.level == level)
        if not rules:
            raise QuestionError(f"{self.name} has no task of level {level}")
        return replace(self, rules=rules, level=level)

    @property
    def own_tasks(self) -> str | None:
        """The tasks of user rules, with non-default settings; None for official protocols, identified by name."""
        if not self.name.endswith(OWN):
            return None
        usual = {one.name: one.default for one in fields(Rule)}
        parts = []
        for rule in self.rules:
            odd = [
                f"{name}={value}" for name, value in vars(rule).items() if name != "measure" and value != usual[name]
            ]
            parts.append(" ".join([str(rule.measure), *odd]))
        return "; ".join(parts)

    @property
    def needs_spans(self) -> bool:
        """Whether it compares error spans."""
        return any(rule.measure.definition.needs_spans for rule in self.rules)

    def outliers_of(self, rule: Rule, testset: str, lp: str) -> Outliers:
        """The outlier systems that a rule excludes."""
        return self.outliers.get(lp, rule.outliers) if testset == self.name else rule.outliers


def _protocol(name: str, data: Mapping[str, Any]) -> Protocol:
    outliers = dict(data.get("outliers", {}))
    source = outliers.pop("source", "")
    return Protocol(
        name=name,
        year=data["measures_since"],
        rules=tuple(Rule(**{**task, "measure": parse_measure(task["measure"])}) for task in data["tasks"]),
        default_lps=tuple(data.get("default_lps", ())),
        overall=data.get("overall"),
        source=data["source"],
        outliers=outliers,
        outliers_source=source,
        unchecked=data.get("unchecked", ""),
    )


def protocols() -> dict[str, Protocol]:
    """The protocols of scores by name, oldest first."""
    return {name: one for name, one in _declared().items() if not one.needs_spans}


@cache
def _declared() -> dict[str, Protocol]:
    """All protocols, including those for error spans."""
    data = tomllib.loads((files(__name__) / "official.toml").read_text(encoding="utf-8"))
    return {name: _protocol(name, found) for name, found in data.items()}


def protocol_named(name: str, composed: Collection[str] = ()) -> Protocol:
    """The protocol with this name; a year without its own rules uses those of the previous year.

    Protocols for error spans have separate names (`wmt25-spans`). composed: names of composed scores, listed in the
    error, too.
    Raises QuestionError: there is none.
    >>> protocol_named("wmt15").name, protocol_named("wmt19").name
    ('wmt14', 'wmt17')
    """
    if name in _declared():
        return _declared()[name]
    known = protocols()
    digits = name.removeprefix("wmt")
    if name.startswith("wmt") and len(digits) == 2 and digits.isdecimal():
        earlier = [one for one in known.values() if one.year <= 2000 + int(digits)]
        if earlier and 2000 + int(digits) <= max(one.year for one in known.values()):
            return earlier[-1]
    raise unknown("protocol", name, [*_declared(), *composed])


def is_protocol(name: str) -> bool:
    """Whether an official protocol has this name, see `protocol_named`."""
    try:
        protocol_named(name)
    except QuestionError:
        return False
    return True


OWN = ".toml"
"""How the name of a file ends."""
_KEYS = ("tasks", "overall", "default_lps", "source")
_OVERALL = ("values", "ranks")


def own_protocol(path: Path) -> Protocol:
    """The protocol in a TOML file, named after the file.

    The file has `tasks`, a list of tables (`measure`, and the fields of `Rule`), and optionally `overall`,
    `default_lps` and `source`. Its measures apply to every year.
    Raises QuestionError: no such file, not TOML, no tasks, or an unknown key or value.
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
    """Raises QuestionError: an unknown key or value."""
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
    for key in ("lps", "test", "outliers", "domains", "human_references", "human"):
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
    """The values of a closed set, including None and nested sets."""
    found = get_args(hint)
    return [hint] if not found else [word for part in found for word in _words(part)]
