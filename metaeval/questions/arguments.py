"""What every question takes: part of the data, measures and names as plain strings, refused where they are none."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Literal, ParamSpec, TypedDict, get_args, get_origin, get_type_hints

from metaeval.measures import Measure, parse_measure
from metaeval.questions.kinds import checked
from metaeval.table import Table
from queries.selection import Outliers, Slice
from warehouse import Warehouse
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
_BESIDE: dict[str, dict[str, tuple[str, ...]]] = {
    "rank": {"significance": ("test", "population", "alternative", "draws", "alpha", "correction")},
    "protocol": {"significance": ("population", "alternative", "draws", "alpha")},
    "thresholds": {"curve": ("points",)},
}
"""Of questions: flags, and the parameters that do nothing without them."""
Asked = ParamSpec("Asked")


def question(function: Callable[Asked, Table]) -> Callable[Asked, Table]:
    """Refuse what does not fit the annotations, and let `help` and editors show a slice's options."""
    signature, hints = inspect.signature(function), get_type_hints(function)
    hints |= get_type_hints(SliceOptions) if "options" in signature.parameters else {}
    closed = {name: _choices(hint) for name, hint in hints.items()}
    beside = _BESIDE.get(function.__name__, {})

    def check(name: str, value: Any) -> Any:
        if isinstance(value, Warehouse) and value.is_closed:
            raise QuestionError("the warehouse is closed")
        if closed.get(name) and isinstance(value, str) and value not in closed[name]:
            raise unknown(name, value, closed[name])
        if name in _PLACES and not isinstance(value, str | None):
            raise QuestionError(f"{name} {value!r}: expected a name, or several joined by commas, as one text")
        return checked(name, value, hints[name]) if name in hints else value

    @wraps(function)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Table:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        for name in given.keys() - {"options"}:
            given[name] = check(name, given[name])
        if "options" in given:
            given["options"] = {name: check(name, value) for name, value in given["options"].items()}
        for flag, names in beside.items():
            for name in () if given.get(flag) else names:
                if name in given and given[name] != signature.parameters[name].default:
                    raise QuestionError(f"{name} needs {flag}=True")
        return function(*bound.args, **bound.kwargs)

    shown = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(shown) < len(signature.parameters):
        shown += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name], annotation=hint)
            for name, hint in get_type_hints(SliceOptions).items()
        ]
    asked.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return asked


def _choices(hint: Any) -> tuple[str, ...]:
    """The values of a closed set, which may be optional; () for any other type."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(value for one in get_args(hint) if get_origin(one) is Literal for value in get_args(one))


def names_of(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def slice_of(testset: str, lp: str, options: SliceOptions) -> Slice:
    """Raises QuestionError: there is no such option, or no such segments."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name not in _DEFAULTS:
            raise unknown("option", name, _DEFAULTS)
        if name == "segments" and value is not None:
            value = _span(*value)  # type: ignore[misc]
        values[_FIELDS.get(name, name)] = names_of(value) if name in _PATTERNS else value  # type: ignore[arg-type]
    return Slice(testset, lp, **values)


def _span(first: int, last: int) -> tuple[int, int]:
    if first < 1:
        raise QuestionError(f"segments ({first}, {last}): the first segment is 1")
    if first > last:
        raise QuestionError(f"segments ({first}, {last}): the first is after the last")
    return int(first), int(last)


def measure_of(given: str | Measure) -> Measure:
    return parse_measure(given) if isinstance(given, str) else given


def measures_of(given: Names | Measure | Sequence[Measure], *, may_lack: bool = False) -> list[Measure]:
    """Raises QuestionError: there is none, unless there may be."""
    several = [given] if isinstance(given, str | Measure) else given
    if not len(several) and not may_lack:
        raise QuestionError("no measures: at least one is needed")
    return list(dict.fromkeys(measure_of(one) for one in several))
