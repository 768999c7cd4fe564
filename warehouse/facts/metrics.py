"""What is known of metrics and no score file tells: family, kind, version, direction, what they compare with."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from warehouse.facts import packaged

KINDS = ("string", "embedding", "trained", "likelihood", "llm", "sentinel", "random", "unknown")


@dataclass(frozen=True)
class MetricFacts:
    """What is known of a metric, whatever reference it compares with.

    kind: one of KINDS. is_reference_free: None where its name is used with and without a reference, or where it is
        not known: then the score file tells. is_error_measure: counts errors by nature; whether a file's values
        are negated already is the file's matter. raw_years: those whose released tables of system scores hold its
        errors as they are, so that fewer is better. training_year: newest WMT year whose human scores it was
        trained on; None where not public, or where it was not trained on any. publication_year: of the paper that
        first described it; None where no source at hand says; publication: that paper, and who cites it.
    is_known: False for a name that is not listed; then the family was found by rule.
    """

    name: str
    family: str
    version: str | None = None
    kind: str = "unknown"
    is_reference_free: bool | None = None
    is_error_measure: bool = False
    training_year: int | None = None
    is_known: bool = True
    raw_years: frozenset[int] = frozenset()
    publication_year: int | None = None
    publication: str | None = None


@dataclass(frozen=True)
class _Family:
    name: str
    kind: str
    reference_free: bool | None
    error: bool
    raw_years: frozenset[int]
    rule: re.Pattern[str]


def folded(name: str) -> str:
    """A name without what spellings of it differ in: case, dashes, underscores and blanks."""
    return re.sub(r"[-_ ]", "", name).casefold()


@cache
def _families() -> tuple[_Family, ...]:
    return tuple(
        _Family(
            data["name"],
            data["kind"],
            data.get("reference_free"),
            data.get("error", False),
            frozenset(data.get("raw_years", ())),
            re.compile(data["rule"]),
        )
        for data in packaged("metrics.toml")["family"]
    )


@cache
def _listed() -> Mapping[str, list[tuple[frozenset[int], MetricFacts]]]:
    """Folded name -> (years in which it means this, empty for all others; facts)."""
    found: dict[str, list[tuple[frozenset[int], MetricFacts]]] = {}
    data = packaged("metrics.toml")
    for family in data["family"]:
        for metric in family["metrics"]:
            paper = data["publications"][metric["published"]] if "published" in metric else None
            for name in metric["names"]:
                facts = MetricFacts(
                    name=name,
                    family=family["name"],
                    version=metric.get("version"),
                    kind=metric.get("kind", family["kind"]),
                    is_reference_free=metric.get("reference_free", family.get("reference_free")),
                    is_error_measure=metric.get("error", family.get("error", False)),
                    training_year=metric.get("trained"),
                    raw_years=frozenset(family.get("raw_years", ())),
                    publication_year=None if paper is None else paper["year"],
                    publication=None if paper is None else f"{paper['paper']} (cited in {paper['cited_in']})",
                )
                found.setdefault(folded(name), []).append((frozenset(metric.get("years", ())), facts))
    return found


def describe(name: str, year: int | None = None) -> MetricFacts:
    """Facts of a metric by its base name (without the reference), as a campaign of that year used the name.

    Case, dashes, underscores and blanks don't matter. Of a name that is not listed the family is that of the first
    rule that fits, else the name's letters before the first digit or mark; `is_known` is False.
    year: the campaign's; where a name meant different things over the years and no year is given, only what all
    of them share is stated.
    >>> describe("COMET", 2023).version, describe("COMET", 2020).training_year, describe("COMET").family
    ('22', 2019, 'COMET')
    >>> describe("MyCOMET-QE-7b")
    MetricFacts(name='MyCOMET-QE-7b', family='COMET', version=None, kind='trained', is_reference_free=True, \
is_error_measure=False, training_year=None, is_known=False, raw_years=frozenset(), publication_year=None, \
publication=None)
    """
    meanings = _listed().get(folded(name))
    if meanings is None:
        return _by_rule(name)
    if year is not None:
        chosen = [facts for years, facts in meanings if year in years]
        chosen = chosen or [facts for years, facts in meanings if not years] or [facts for _, facts in meanings]
        return _shared(name, chosen)
    return _shared(name, [facts for _, facts in meanings])


def _shared(name: str, meanings: list[MetricFacts]) -> MetricFacts:
    """What several meanings of a name have in common."""

    def common(field: str) -> Any:
        values = {getattr(facts, field) for facts in meanings}
        return values.pop() if len(values) == 1 else None

    return MetricFacts(
        name=name,
        family=common("family") or meanings[0].family,
        version=common("version"),
        kind=common("kind") or "unknown",
        is_reference_free=common("is_reference_free"),
        is_error_measure=bool(common("is_error_measure")),
        training_year=common("training_year"),
        raw_years=common("raw_years") or frozenset(),
        publication_year=common("publication_year"),
        publication=common("publication"),
    )


def _by_rule(name: str) -> MetricFacts:
    lowered = name.lower()
    without = re.search(r"(^|[-_.])(qe|src|noref|ref-?free|reference-?free)($|[-_.0-9])", lowered)
    reference_free = True if without else None
    for family in _families():
        if family.rule.search(lowered):
            known = reference_free if reference_free else family.reference_free
            return MetricFacts(
                name,
                family.name,
                kind=family.kind,
                is_reference_free=known,
                is_error_measure=family.error,
                is_known=False,
                raw_years=family.raw_years,
            )
    stem = re.match(r"[^\W\d_]+", name)
    return MetricFacts(name, stem[0] if stem else name, is_reference_free=reference_free, is_known=False)
