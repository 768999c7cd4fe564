"""What every question takes: part of the data, measures and names as plain strings, refused where they are none."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Literal, ParamSpec, TypedDict, get_args, get_origin, get_type_hints

from metaeval.measures import Measure
from metaeval.tables.table import Table
from queries.selection import Outliers, Slice
from warehouse.errors import QuestionError, unknown

Names = str | Sequence[str]


class SliceOptions(TypedDict, total=False):
    """Which part of an evaluation set: the flags of the command line; names and shell patterns, one or several."""

    human: str | None
    reference: str | None
    domain: Names
    document: Names
    segments: tuple[int, int] | None
    systems: Names
    metrics: Names
    only: Literal["reference-based", "reference-free"] | None
    primary: bool
    human_references: bool | None
    outliers: Outliers
    own: bool
    all_metrics: bool
    intersection: bool


_DEFAULTS: dict[str, object] = {
    "human": None,
    "reference": None,
    "domain": (),
    "document": (),
    "segments": None,
    "systems": (),
    "metrics": (),
    "only": None,
    "primary": False,
    "human_references": None,
    "outliers": "organisers",
    "own": False,
    "all_metrics": False,
    "intersection": False,
}
_FIELDS = {"domain": "domains", "document": "documents"}
_PLACES = ("testset", "lp")
_PATTERNS = ("domain", "document", "systems", "metrics")
Asked = ParamSpec("Asked")


def question(function: Callable[Asked, Table]) -> Callable[Asked, Table]:
    """Refuse values outside a closed set and lists as names, and let `help` and editors show a slice's options."""
    signature, hints = inspect.signature(function), get_type_hints(function)
    closed = {name: _choices(hint) for name, hint in {**hints, **get_type_hints(SliceOptions)}.items()}

    @wraps(function)
    def checked(*args: Asked.args, **kwargs: Asked.kwargs) -> Table:
        given = signature.bind(*args, **kwargs).arguments
        for name, value in {**given, **given.get("options", {})}.items():
            if closed.get(name) and value is not None and value not in closed[name]:
                raise unknown(name, str(value), closed[name])
            if name in _PLACES and not isinstance(value, str | None):
                raise QuestionError(f"{name} {value!r}: expected a name, or several joined by commas, as one text")
        return function(*args, **kwargs)

    shown = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(shown) < len(signature.parameters):
        shown += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name], annotation=hint)
            for name, hint in get_type_hints(SliceOptions).items()
        ]
    checked.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return checked


def _choices(hint: Any) -> tuple[str, ...]:
    """The values of a closed set, which may be optional; () for any other type."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(value for one in get_args(hint) if get_origin(one) is Literal for value in get_args(one))


def names_of(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def slice_of(testset: str, lp: str, options: SliceOptions) -> Slice:
    """Raises QuestionError: there is no such option."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name not in _DEFAULTS:
            raise unknown("option", name, _DEFAULTS)
        values[_FIELDS.get(name, name)] = names_of(value) if name in _PATTERNS else value  # type: ignore[arg-type]
    return Slice(testset, lp, **values)


def measure_of(given: str | Measure) -> Measure:
    return Measure.parse(given) if isinstance(given, str) else given


def measures_of(given: Names | Measure | Sequence[Measure]) -> list[Measure]:
    several = [given] if isinstance(given, str | Measure) else given
    return list(dict.fromkeys(measure_of(one) for one in several))
