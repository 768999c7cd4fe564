"""What is known of challenge sets and stands in none of their files."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from warehouse.facts.packaged import packaged


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
