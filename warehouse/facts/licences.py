"""The release of each published file, and the licence that it states."""

from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from warehouse.facts import packaged

NOT_STATED = "not stated"


class Release(NamedTuple):
    """A release. release: its repository; None: unknown. licence: an SPDX identifier, or NOT_STATED. terms: others."""

    release: str | None
    licence: str
    terms: str = ""


@cache
def release_of(testset: str, origin: str) -> Release:
    """The release of a file. origin: from the view `sources`.

    >>> release_of("wmt20", "wmt20/en-de/mqm.avg_seg_scores").licence, release_of("mine", "table/scores.tsv").licence
    ('Apache-2.0', 'not stated')
    """
    place = origin if origin.startswith(f"{testset}/") else f"{testset}/{origin}"
    for one in packaged_releases():
        if any(fnmatchcase(place, pattern) for pattern in one["holds"]):
            return Release(one["name"], one["licence"], one.get("terms", ""))
    return Release(None, NOT_STATED)


@cache
def packaged_releases() -> list[dict[str, str]]:
    """The known releases, in the order of the data."""
    return list(packaged("licences.toml")["release"])
