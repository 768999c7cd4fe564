"""What is known of challenge sets and stands in none of their files."""

from collections.abc import Mapping
from functools import cache

from warehouse.facts.packaged import packaged


@cache
def _sets() -> Mapping[str, Mapping[str, Mapping[str, int]]]:
    return packaged("challenge_sets.toml")


def grades_of(testset: str) -> Mapping[str, int]:
    """Grades of the hypotheses of a challenge set; none where their order is not known."""
    return _sets().get(testset, {}).get("grades", {})
