"""What the organisers declared for each test set: one TOML file each in `declared`.

A folder with scores may bring the facts of its own test set in a file `testset.toml` of the same form.
"""

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from warehouse.errors import SourceError
from warehouse.facts import packaged
from warehouse.facts.languages import language_pair_called
from warehouse.names import LEVELS, LanguagePair

FACTS_FILE = "testset.toml"


@dataclass(frozen=True)
class EvalsetFacts:
    """Standards of one language pair of a test set.

    standard_human: level -> name of the official human score.
    ranks_human_references: True where the official task ranked extra human references beside the systems.
    extra_primary: primary metrics of this language pair alone (base names).
    aliases: spelling in a file -> system, for names that no rule joins (see `warehouse.staging.naming`).
    """

    standard_reference: str | None = None
    standard_human: Mapping[str, str] = field(default_factory=dict)
    outlier_systems: frozenset[str] = frozenset()
    ranks_human_references: bool = False
    extra_primary: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)

    def outliers(self, systems: Mapping[str, str]) -> frozenset[str]:
        """The systems that are declared outliers, under whatever name. systems: name or spelling -> system."""
        return frozenset(system for name, system in systems.items() if name in self.outlier_systems)


@dataclass(frozen=True)
class TestsetFacts:
    """A test set: year, official metric lists (base names; None where the year kept none), language pairs."""

    __test__ = False  # the name begins with "Test", but it is no test

    name: str
    year: int | None = None
    description: str | None = None
    primary: frozenset[str] | None = None
    baseline: frozenset[str] = frozenset()
    lps: Mapping[str, EvalsetFacts] = field(default_factory=dict)

    def evalset(self, lp: str) -> EvalsetFacts:
        """Facts of a language pair; empty ones where nothing was declared."""
        return self.lps.get(lp, EvalsetFacts())

    def status(self, lp: str, base_name: str) -> str | None:
        """baseline, primary or contrastive; None where the year kept no lists.

        >>> facts("wmt23").status("en-de", "BLEU"), facts("wmt23").status("en-de", "XCOMET-XL")
        ('baseline', 'contrastive')
        """
        if self.primary is None:
            return None
        if base_name in self.baseline:
            return "baseline"
        if base_name in self.primary or base_name in self.evalset(lp).extra_primary:
            return "primary"
        return "contrastive"


def _strings(value: object, where: str) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{where}: found {value!r}, expected a list of strings")
    return frozenset(value)


def _check_keys(data: Mapping[str, object], known: set[str], where: str = "") -> None:
    if not set(data) <= known:
        prefix = f"{where}: " if where else ""
        raise ValueError(f"{prefix}unknown keys {sorted(set(data) - known)}, expected some of {sorted(known)}")


def _evalset(data: object, where: str) -> EvalsetFacts:
    if not isinstance(data, dict):
        raise ValueError(f"{where}: found {data!r}, expected a table")
    known = {
        "standard_reference",
        "standard_human",
        "outlier_systems",
        "ranks_human_references",
        "extra_primary",
        "aliases",
    }
    _check_keys(data, known, where)
    reference = data.get("standard_reference")
    human = data.get("standard_human", {})
    ranks = data.get("ranks_human_references", False)
    if not (reference is None or isinstance(reference, str)):
        raise ValueError(f"{where}.standard_reference: found {reference!r}, expected a string")
    if not (isinstance(human, dict) and set(human) <= set(LEVELS) and all(isinstance(v, str) for v in human.values())):
        raise ValueError(f"{where}.standard_human: found {human!r}, expected levels {LEVELS} with names")
    if not isinstance(ranks, bool):
        raise ValueError(f"{where}.ranks_human_references: found {ranks!r}, expected true or false")
    aliases = data.get("aliases", {})
    if not (isinstance(aliases, dict) and all(isinstance(name, str) for name in aliases.values())):
        raise ValueError(f"{where}.aliases: found {aliases!r}, expected spellings with the systems they stand for")
    return EvalsetFacts(
        aliases=dict(aliases),
        standard_reference=reference,
        standard_human=dict(human),
        outlier_systems=_strings(data.get("outlier_systems", []), f"{where}.outlier_systems"),
        ranks_human_references=ranks,
        extra_primary=_strings(data.get("extra_primary", []), f"{where}.extra_primary"),
    )


def parse_facts(text: str, where: str) -> TestsetFacts:
    """Facts of one test set from TOML.

    where: named in messages.
    Raises SourceError: no TOML, or a key or value that is not understood.
    """
    try:
        return _facts(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SourceError(f"not valid TOML: {error}", about=where) from error
    except ValueError as error:
        raise SourceError(str(error), about=where) from error


def _facts(data: Mapping[str, Any]) -> TestsetFacts:
    """Raises ValueError: a key or value that is not understood."""
    _check_keys(data, {"name", "year", "description", "metrics", "lps"})
    name, year, description = data.get("name"), data.get("year"), data.get("description")
    if not isinstance(name, str) or not name:
        raise ValueError(f"name: found {name!r}, expected the test set's name")
    if not (year is None or type(year) is int) or not (description is None or isinstance(description, str)):
        raise ValueError("year must be a number and description a string")
    metrics, lps = data.get("metrics"), data.get("lps", {})
    if not (metrics is None or isinstance(metrics, dict)) or not isinstance(lps, dict):
        raise ValueError("metrics and lps must be tables")
    _check_keys(metrics or {}, {"primary", "baseline"}, "metrics")
    return TestsetFacts(
        name=name,
        year=year,
        description=description,
        primary=None if metrics is None else _strings(metrics.get("primary", []), "metrics.primary"),
        baseline=frozenset() if metrics is None else _strings(metrics.get("baseline", []), "metrics.baseline"),
        lps={language_pair_called(_language_pair(lp)): _evalset(data, f"lps.{lp}") for lp, data in lps.items()},
    )


def _language_pair(text: str) -> str:
    """A language pair as the warehouse spells it, which is how it must stand in the file."""
    try:
        spelled = str(LanguagePair.parse(text))
    except ValueError as error:
        raise ValueError(f"lps.{text}: {error}") from error
    if spelled != text:
        raise ValueError(f"lps.{text}: expected {spelled}, one dash between the languages")
    return text


@cache
def _packaged() -> dict[str, TestsetFacts]:
    found = (
        parse_facts(entry.read_text(encoding="utf-8"), entry.name)
        for entry in files(__package__).joinpath("declared").iterdir()
        if entry.name.endswith(".toml")
    )
    return {facts.name: facts for facts in found}


def facts(testset: str) -> TestsetFacts:
    """What the package declares for a test set; one that it does not know has its name alone."""
    return _packaged().get(testset, TestsetFacts(testset))


def packaged_facts(testset: str) -> TestsetFacts | None:
    """What the package declares for a test set; None where it does not know it."""
    return _packaged().get(testset)


def declared_facts(testset: str, folder: Path) -> TestsetFacts | None:
    """What is declared for a test set: by `folder/testset.toml` where there is one, else by the package.

    None where nobody declares anything, so that a warehouse keeps what it was told before.
    Raises SourceError: the folder's file is faulty, or belongs to another test set.
    """
    own = folder / FACTS_FILE
    if not own.is_file():
        return _packaged().get(testset)
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
    """The `testset.toml` of a folder, or of one of the two around it: tables lie in a language pair's folder, too."""
    return next((path for place in (folder, *folder.parents[:2]) if (path := place / FACTS_FILE).is_file()), None)


def facts_beside(testset: str, folder: Path) -> TestsetFacts:
    """Facts of the test set of a table: those that lie beside it and are of that test set, else the package's.

    A faulty file says nothing here: it is a fault of the load.
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
    """Grades of the hypotheses of a challenge set; none where their order is not known."""
    found: Mapping[str, int] = _sets().get(testset, {}).get("grades", {})
    return found


def class_of(testset: str, phenomenon: str) -> str | None:
    """The class that a phenomenon of a challenge set belongs to; None where it is not known.

    >>> class_of("aces", "copy-source"), class_of("aces", "something-else")
    ('untranslated', None)
    """
    classes: Mapping[str, list[str]] = _sets().get(testset, {}).get("classes", {})
    return next((name for name, own in classes.items() if any(fnmatchcase(phenomenon, one) for one in own)), None)
