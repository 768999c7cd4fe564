"""Names as users type them, in the spelling of the warehouse.

Light: commands that are no questions look names up by it, too.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, TypeVar

from queries.evalsets import (
    is_year,
    stored_exactly,
    stored_name,
    stored_names,
    stored_places,
    stored_score,
    stored_testset,
)
from queries.listing import NameKind, names
from warehouse import Warehouse
from warehouse.facts.languages import pairs_called
from warehouse.facts.testsets import known_testsets
from warehouse.fields import Fields, fields_of
from warehouse.names import is_language_pair

Q = TypeVar("Q", bound=Fields)

_EXACT: Sequence[NameKind] = ("reference", "domain", "document", "phenomenon")
_SPELT = ("testset", "lp", "metric", "scorer", "system", "human", *_EXACT)


def with_stored_names(
    question: Q,
    opened: Callable[[], AbstractContextManager[Warehouse]],
    stored: Collection[str] = (),
    *,
    quick: bool = False,
) -> Q:
    """The question with the names that the warehouse has; lists of metrics lose their commas, and "all" is all.

    The warehouse is read only if a name may be typed differently from its stored form. stored: kinds of names that have
    it already. quick: test sets in lower case are taken as they are, which most are.
    """
    fields = fields_of(type(question))
    kinds = {name: str(one.option.names) for name, one in fields.items() if one.option.names in _SPELT}
    values = {name: value for name in kinds if (value := getattr(question, name))}
    typed = [name for name in values if question.differs_from_default(name)]
    values |= {name: _language_pairs(value) for name, value in values.items() if kinds[name] == "lp"}
    typed = [name for name in typed if kinds[name] not in stored]
    if quick:
        typed = [name for name in typed if kinds[name] != "testset" or not _is_plain(values[name])]
    if any(is_to_be_looked_up(values[name], kinds[name]) for name in typed):
        with opened() as warehouse:
            values |= spelt(warehouse, values, kinds)
    changed = {name: value for name, value in values.items() if value != getattr(question, name)}
    return replace(question, **changed) if changed else question


def _language_pairs(value: Any) -> Any:
    """Language pairs in the codes of the warehouse: `en-cmn` is `en-zh`."""
    if not isinstance(value, str):
        return tuple(_language_pairs(one) for one in value)
    return pairs_called(value)


def spelt(warehouse: Warehouse, values: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Names as a warehouse has them: those of the evaluation sets that are named, else of all.

    kinds: what each of the values names. No metric name is left if all are meant.
    """
    places = stored_places(warehouse)
    found = {
        name: _spelt(value, kinds[name], places[kinds[name]]) for name, value in values.items() if kinds[name] in places
    }
    asked = {kind: [value for name, value in found.items() if kinds[name] == kind] for kind in places}
    rest = {name: value for name, value in values.items() if name not in found}
    if rest:
        sets = _several(asked["testset"]), _several(asked["lp"])
        stored: dict[str, Collection[str]] = {**stored_names(warehouse, *sets)}
        stored |= {kind: names(warehouse, kind, *sets) for kind in _EXACT if any(kinds[name] == kind for name in rest)}
        found |= {name: _spelt(value, kinds[name], stored[kinds[name]]) for name, value in rest.items()}
    return found


def _several(values: Sequence[Any]) -> list[str]:
    """Single names of values that are names joined by commas, or lists of these; none if all are meant."""
    names = [name for value in values for name in _names(value)]
    return [] if "all" in names else names


def _spelt(value: Any, kind: str, known: Collection[str]) -> Any:
    if kind in _EXACT or kind in ("scorer", "system", "human"):
        exact = stored_exactly if kind in _EXACT else stored_score
        spelt = tuple(exact(one, known) for one in ([value] if isinstance(value, str) else value))
        return spelt[0] if isinstance(value, str) else spelt
    look_up = stored_testset if kind == "testset" else stored_name
    if isinstance(value, str):
        return look_up(value, known)
    if kind != "metric":
        return tuple(look_up(one, known) for one in value)
    parts = [one for part in value for one in ([part] if part in known else _parts(part))]
    patterns = [stored_name(one, known) for one in parts]
    return () if any(one.lower() == "all" for one in patterns) else tuple(dict.fromkeys(patterns))


def _is_plain(testsets: Any) -> bool:
    """Whether names of test sets are in lower case, and no years."""
    return all(part == part.lower() and not is_year(part) for part in _names(testsets))


def _names(value: Any) -> list[str]:
    """Single names of a value that is names joined by commas, or a list of these."""
    return [part for one in ([value] if isinstance(value, str) else value) for part in one.split(",")]


def _parts(text: str) -> Sequence[str]:
    return [part.strip() for part in text.split(",") if part.strip()] or [text]


def is_to_be_looked_up(value: Any, kind: str) -> bool:
    """Whether a name may be typed differently from the stored one: reading the warehouse takes time."""
    if kind not in ("testset", "lp"):  # patterns are matched where the names of an evaluation set are known
        several = [value] if isinstance(value, str) else value
        return any("," in one or not re.search(r"[*?\[]", one) for one in several)
    if kind == "lp":
        return any(part != "all" and not is_language_pair(part) for part in _names(value))
    return any(part != "all" and part not in known_testsets() for part in _names(value))
