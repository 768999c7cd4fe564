"""The organisers' declarations for each test set: one TOML file each in `declared`.

A folder with scores may have the facts of its test set in a file `testset.toml` of the same format.
"""

import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from warehouse.errors import SourceError
from warehouse.facts import packaged
from warehouse.facts.languages import language_pair_called
from warehouse.names import LEVELS, LanguagePair
from warehouse.wording import NO_LP

FACTS_FILE = "testset.toml"


@dataclass(frozen=True)
class EvalsetFacts:
    """Standards of one language pair of a test set.

    standard_human: level -> name of the official human score.
    ranks_human_references: True if the official task ranked extra human references along with the systems.
    extra_primary: primary metrics of this language pair only (base names).
    aliases: spelling in a file -> system, for names that no rule joins (see `warehouse.staging.naming`).
    """

    standard_reference: str | None = None
    standard_human: Mapping[str, str] = field(default_factory=dict)
    outlier_systems: frozenset[str] = frozenset()
    ranks_human_references: bool = False
    extra_primary: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def outliers(self, systems: Mapping[str, str]) -> frozenset[str]:
        """The systems declared as outliers, under any spelling. systems: name or spelling -> system."""
        return frozenset(system for name, system in systems.items() if name in self.outlier_systems)


@dataclass(frozen=True)
class TestsetFacts:
    """A test set: year, official metric lists (base names; None if the year had none), language pairs.

    not_submitted: metrics (base names) whose scores others published later; none of the lists has them.
    resubmitted: how often the organisers' system scores count each of two identical rankings that were submitted in
        a row.
    """

    __test__ = False  # the name begins with "Test", but it is no test

    name: str
    year: int | None = None
    description: str | None = None
    primary: frozenset[str] | None = None
    baseline: frozenset[str] = frozenset()
    lps: Mapping[str, EvalsetFacts] = field(default_factory=dict)
    resubmitted: int = 1
    not_submitted: frozenset[str] = frozenset()

    def evalset(self, lp: str) -> EvalsetFacts:
        """Facts of a language pair; empty ones where nothing was declared."""
        return self.lps.get(lp, EvalsetFacts())

    def status(self, lp: str, base_name: str) -> str | None:
        """baseline, primary or contrastive, or no entry; None if the year had no lists.

        >>> [facts("wmt23").status("en-de", name) for name in ("BLEU", "XCOMET-XL", "MetricX-23-XXL")]
        ['baseline', 'contrastive', 'no entry']
        """
        if base_name in self.not_submitted:
            return "no entry"
        if self.primary is None:
            return None
        if base_name in self.baseline:
            return "baseline"
        if base_name in self.primary or base_name in self.evalset(lp).extra_primary:
            return "primary"
        return "contrastive"


_STRINGS, _TABLE = "a list of strings", "a table"
_IS: Mapping[str, Callable[[Any], bool]] = {
    "a string": lambda value: isinstance(value, str),
    "a number": lambda value: type(value) is int,
    "true or false": lambda value: isinstance(value, bool),
    _STRINGS: lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    _TABLE: lambda value: isinstance(value, dict),
}
_OF_OTHER_TASKS = {"standard_reference": "a string", "standard_human": _TABLE}  # beside the name, without an lp
_TESTSET = {
    **dict.fromkeys(("name", "description", "task", "licence"), "a string"),
    **dict.fromkeys(("year", "resubmitted"), "a number"),
    **dict.fromkeys(("metrics", "lps"), _TABLE),
    **_OF_OTHER_TASKS,
}
_METRICS = {"primary": _STRINGS, "baseline": _STRINGS, "not_submitted": _STRINGS}
_EVALSET = {
    "standard_reference": "a string",
    "standard_human": _TABLE,
    "outlier_systems": _STRINGS,
    "ranks_human_references": "true or false",
    "extra_primary": _STRINGS,
    "aliases": _TABLE,
}


def _checked(data: Any, kinds: Mapping[str, str], where: str = "") -> dict[str, Any]:
    """A table with known keys and values of the right kind.

    Raises ValueError: an unknown key, or a value of the wrong kind.
    """
    for key, value in data.items():
        if key not in kinds:
            raise ValueError(f"{where}{key}: unknown key, expected one of {sorted(kinds)}")
        if not _IS[kinds[key]](value):
            raise ValueError(f"{where}{key}: found {value!r}, expected {kinds[key]}")
    return dict(data)


def _evalset(data: Any, where: str) -> EvalsetFacts:
    known = _checked(data, _EVALSET, f"{where}.")
    _checked(known.get("standard_human", {}), dict.fromkeys(LEVELS, "a string"), f"{where}.standard_human.")
    aliases = known.get("aliases", {})
    _checked(aliases, dict.fromkeys(aliases, "a string"), f"{where}.aliases.")
    return EvalsetFacts(**known | {key: frozenset(value) for key, value in known.items() if _EVALSET[key] == _STRINGS})


def parse_facts(text: str, where: str) -> TestsetFacts:
    """Facts of one test set from TOML.

    where: named in messages.
    Raises SourceError: invalid TOML, or an invalid key or value.
    """
    try:
        return _facts(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SourceError(f"not valid TOML: {error}", about=where) from error
    except ValueError as error:
        raise SourceError(str(error), about=where) from error


def _facts(data: Mapping[str, Any]) -> TestsetFacts:
    """Raises ValueError: an invalid key or value."""
    known = _checked(data, _TESTSET)
    if not known.get("name"):
        raise ValueError("name: missing, expected the test set's name")
    lps = _checked(known.get("lps", {}), dict.fromkeys(known.get("lps", {}), _TABLE), "lps.")
    metrics = _checked(known.get("metrics", {}), _METRICS, "metrics.")
    if alone := {key: known[key] for key in _OF_OTHER_TASKS if key in known}:
        lps[NO_LP] = alone
    licence = f"licence {known['licence']}" if "licence" in known else None
    said = [known.get("description", known.get("task")), licence]
    return TestsetFacts(
        name=known["name"],
        year=known.get("year"),
        description=", ".join(filter(None, said)) or None,
        primary=frozenset(metrics.get("primary", ())) if "metrics" in known else None,
        baseline=frozenset(metrics.get("baseline", ())),
        not_submitted=frozenset(metrics.get("not_submitted", ())),
        lps={language_pair_called(_language_pair(lp)): _evalset(data, f"lps.{lp}") for lp, data in lps.items()},
        resubmitted=known.get("resubmitted", 1),
    )


def _language_pair(text: str) -> str:
    """A language pair, which the file must spell like the warehouse."""
    try:
        spelled = str(LanguagePair.parse(text))
    except ValueError as error:
        raise ValueError(f"lps.{text}: {error}") from error
    if spelled != text:
        raise ValueError(f"lps.{text}: expected {spelled}, one dash between the languages")
    return text


@cache
def _packaged() -> Mapping[str, Traversable]:
    """The packaged files by test set, after which each is named."""
    entries = files(__package__).joinpath("declared").iterdir()
    return {entry.name.removesuffix(".toml"): entry for entry in entries if entry.name.endswith(".toml")}


def facts(testset: str) -> TestsetFacts:
    """The package's declarations for a test set; only the name if it is unknown."""
    return packaged_facts(testset) or TestsetFacts(testset)


@cache
def packaged_facts(testset: str) -> TestsetFacts | None:
    """The package's declarations for a test set; None if it is unknown."""
    entry = _packaged().get(testset)
    return None if entry is None else parse_facts(entry.read_text(encoding="utf-8"), entry.name)


def declared_facts(testset: str, folder: Path) -> TestsetFacts | None:
    """The declarations for a test set: from `folder/testset.toml` if it exists, else from the package.

    None if no file declares anything, so that a warehouse keeps its earlier facts.
    Raises SourceError: the folder's file is faulty, or belongs to another test set.
    """
    own = folder / FACTS_FILE
    if not own.is_file():
        return packaged_facts(testset)
    declared = read_facts(own)
    if declared.name != testset:
        raise SourceError(f"name is {declared.name!r}, expected {testset!r} (its folder)", about=str(own))
    return declared


def read_facts(path: Path) -> TestsetFacts:
    """The facts in a file. Raises SourceError: it is faulty."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot be read: {error}", about=str(path)) from error
    return parse_facts(text, str(path))


def facts_file(folder: Path) -> Path | None:
    """The `testset.toml` of a folder or its two parents, because tables may be in a language pair's folder."""
    return next((path for place in (folder, *folder.parents[:2]) if (path := place / FACTS_FILE).is_file()), None)


def facts_beside(testset: str, folder: Path) -> TestsetFacts:
    """Facts of a table's test set: from a file next to it if it is for that test set, else from the package.

    A faulty file is ignored here; the load reports it.
    """
    beside = facts_file(folder)
    with suppress(SourceError):
        if beside is not None and (declared := read_facts(beside)).name == testset:
            return declared
    return facts(testset)


def known_testsets() -> list[str]:
    """Names of the test sets with packaged facts, sorted."""
    return sorted(_packaged())


@cache
def _sets() -> Mapping[str, Mapping[str, Any]]:
    return packaged("challenge_sets.toml")


def grades_of(testset: str) -> Mapping[str, int]:
    """Grades of a challenge set's hypotheses; empty if their order is unknown."""
    found: Mapping[str, int] = _sets().get(testset, {}).get("grades", {})
    return found


def class_of(testset: str, phenomenon: str) -> str | None:
    """The class of a challenge set's phenomenon; None if unknown.

    >>> class_of("aces", "copy-source"), class_of("aces", "something-else")
    ('untranslated', None)
    """
    classes: Mapping[str, list[str]] = _sets().get(testset, {}).get("classes", {})
    return next((name for name, own in classes.items() if any(fnmatchcase(phenomenon, one) for one in own)), None)
