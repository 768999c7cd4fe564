"""Facts on metrics that are not in score files: family, kind, version, direction, and use of references."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from warehouse.facts import packaged, testsets

KINDS = ("string", "embedding", "trained", "likelihood", "llm", "sentinel", "random", "unknown")
JUDGES_NOTHING = ("sentinel", "random")
"""Kinds that judge no translation: what every metric must beat, and whose opinion does not count."""


@dataclass(frozen=True)
class MetricFacts:
    """Facts on a metric, for any reference.

    kind: one of KINDS. is_reference_free: None if its name is used with and without a reference, or if it is
        unknown: then the score file decides. is_error_measure: counts errors by nature; whether a file's values
        are already negated depends on the file. raw_years: years whose released tables of system scores hold its
        errors unchanged, so that lower is better. training_year: newest WMT year whose human scores it was
        trained on; None if not public, or if it was not trained on any. publication_year: of the paper that
        first described it; None if no known source says; publication: that paper, and who cites it.
    share_years: years whose released scores run from 0 to 1; in all others they run from 0 to 100.
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
    share_years: frozenset[int] = frozenset()


def folded(name: str) -> str:
    """A name without case, dashes, underscores and blanks, in which spellings differ."""
    return re.sub(r"[-_ ]", "", name).casefold()


@cache
def _data() -> dict[str, Any]:
    return packaged("metrics.toml")


def _of_family(family: Mapping[str, Any], name: str, **more: Any) -> MetricFacts:
    """Facts of a member of a family. more: its differences from the family."""
    of_all = MetricFacts(
        name,
        family["name"],
        kind=family["kind"],
        is_reference_free=family.get("reference_free"),
        is_error_measure=family.get("error", False),
        raw_years=frozenset(family.get("raw_years", ())),
    )
    return replace(of_all, **more)


_OF_METRIC = {
    "version": "version",
    "kind": "kind",
    "reference_free": "is_reference_free",
    "error": "is_error_measure",
    "trained": "training_year",
}
"""Keys of a metric in the file, and which facts they are."""


@cache
def _listed() -> Mapping[str, list[tuple[frozenset[int], MetricFacts]]]:
    """Folded name -> (years in which it means this, empty for all others; facts)."""
    found: dict[str, list[tuple[frozenset[int], MetricFacts]]] = {}
    for family in _data()["family"]:
        for metric in family["metrics"]:
            more = {fact: metric[key] for key, fact in _OF_METRIC.items() if key in metric}
            more["share_years"] = frozenset(metric.get("shares", ()))
            if "published" in metric:
                paper = _data()["publications"][metric["published"]]
                more["publication_year"] = paper["year"]
                more["publication"] = f"{paper['paper']} (cited in {paper['cited_in']})"
            for name in metric["names"]:
                facts = _of_family(family, name, **more)
                found.setdefault(folded(name), []).append((frozenset(metric.get("years", ())), facts))
    return found


@cache  # a ranking asks several times for each of its metrics
def describe(name: str, year: int | None = None) -> MetricFacts:
    """Facts of a metric by its base name (without the reference), as a campaign of that year used the name.

    Case, dashes, underscores and blanks don't matter. The family of an unlisted name comes from the first matching
    rule, or else is the name's letters before the first digit or mark; `is_known` is False.
    year: the campaign's; if a name had different meanings over the years and no year is given, only their common
    facts are stated.
    >>> describe("COMET", 2023).version, describe("COMET", 2020).training_year, describe("COMET").family
    ('22', 2019, 'COMET')
    >>> describe("MyCOMET-QE-7b")
    MetricFacts(name='MyCOMET-QE-7b', family='COMET', version=None, kind='trained', is_reference_free=True, \
is_error_measure=False, training_year=None, is_known=False, raw_years=frozenset(), publication_year=None, \
publication=None, share_years=frozenset())
    """
    meanings = _listed().get(folded(name))
    if meanings is None:
        return _by_rule(name)
    if year is not None:
        chosen = [facts for years, facts in meanings if year in years]
        chosen = chosen or [facts for years, facts in meanings if not years] or [facts for _, facts in meanings]
        return _shared(name, chosen)
    return _shared(name, [facts for _, facts in meanings])


def factor_to_percent(name: str, testset: str) -> float:
    """The factor that brings a test set's released scores of a metric to the metric's usual scale.

    >>> factor_to_percent("BLEU", "wmt19"), factor_to_percent("BLEU", "wmt20"), factor_to_percent("MyBLEU", "mine")
    (100.0, 1.0, 1.0)
    """
    year = testsets.facts(testset).year
    return 100.0 if year in describe(name, year).share_years else 1.0


def _shared(name: str, meanings: list[MetricFacts]) -> MetricFacts:
    """The common facts of several meanings of a name."""
    common: dict[str, Any] = {
        "family": meanings[0].family,
        "kind": "unknown",
        "is_error_measure": False,
        "raw_years": frozenset(),
        "share_years": frozenset(),
    }
    for field in fields(MetricFacts):
        values = {getattr(facts, field.name) for facts in meanings}
        if len(values) == 1:
            common[field.name] = values.pop()
        else:
            common.setdefault(field.name, None)
    return MetricFacts(**{**common, "name": name})


@cache  # a load asks for each name once an evaluation set
def _by_rule(name: str) -> MetricFacts:
    lowered = name.lower()
    without = re.search(r"(^|[-_.])(qe|src|noref|ref-?free|reference-?free)($|[-_.0-9])", lowered)
    known: dict[str, Any] = {"is_known": False, **({"is_reference_free": True} if without else {})}
    for family in _data()["family"]:
        if re.search(family["rule"], lowered):
            return _of_family(family, name, **known)
    stem = re.match(r"[^\W\d_]+", name)
    return MetricFacts(name, stem[0] if stem else name, **known)
