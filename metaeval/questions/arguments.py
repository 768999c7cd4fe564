"""What every question takes: part of the data, measures and names as plain strings, refused where they are none."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Literal, ParamSpec, TypedDict, get_args, get_origin, get_type_hints

from metaeval.measures import Measure, parse_measure
from metaeval.questions.kinds import checked
from metaeval.questions.together import OF_SLICES, RULES, check_known, check_together
from metaeval.table import Table
from queries.selection import Outliers, Slice
from warehouse import Warehouse
from warehouse.errors import QuestionError, unknown

Names = str | Sequence[str] | None
"""One name or several, at least one; None stands for the default."""
Measures = str | Measure | Sequence[str | Measure] | None
Numbers = Sequence[float] | None
_MAY_BE_EMPTY = (("diff", "measures"),)  # question and keyword: without rankings


class DataOptions(TypedDict, total=False):
    """Which part of an evaluation set: the flags of the command line; names and shell patterns, one or several.

    Of questions that read no metrics, or those that are named. None: all of them.
    """

    human: str | None
    reference: str | None
    domain: Names
    document: Names
    phenomenon: Names
    segments: tuple[int, int] | None
    systems: Names
    human_references: bool | None
    outliers: Outliers
    intersection: bool


class SliceOptions(DataOptions, total=False):
    """And which metrics."""

    metrics: Names
    only: Literal["reference-based", "reference-free"] | None
    primary: bool
    own: bool
    all_metrics: bool


_DEFAULTS: dict[str, object] = {
    "human": None,
    "reference": None,
    "domain": None,
    "document": None,
    "phenomenon": None,
    "segments": None,
    "systems": None,
    "human_references": None,
    "outliers": "organisers",
    "intersection": False,
    "metrics": None,
    "only": None,
    "primary": False,
    "own": False,
    "all_metrics": False,
}
_FIELDS = {"domain": "domains", "document": "documents", "phenomenon": "phenomena"}
_PLACES = ("testset", "lp")
_PATTERNS = ("domain", "document", "phenomenon", "systems", "metrics")
Asked = ParamSpec("Asked")


def question(function: Callable[Asked, Table]) -> Callable[Asked, Table]:
    """Refuse what does not fit the annotations or goes together, and let `help` and editors show a slice's options."""
    signature, hints = inspect.signature(function), get_type_hints(function)
    of_slice = get_type_hints(get_args(hints["options"])[0]) if "options" in hints else {}
    hints |= of_slice
    closed = {name: _choices(hint) for name, hint in hints.items()}
    shown = _shown(signature, of_slice)
    defaults = {name: one.default for name, one in shown.parameters.items()}
    lists = {name for name, hint in hints.items() if any(get_origin(one) is Sequence for one in get_args(hint))}
    may_be_empty = {name for of, name in _MAY_BE_EMPTY if of == function.__name__}
    rules = RULES.get(function.__name__, ()) + (OF_SLICES if "primary" in of_slice else ())

    def check(name: str, value: Any) -> Any:
        if isinstance(value, Warehouse) and value.is_closed:
            raise QuestionError("the warehouse is closed")
        if closed.get(name) and isinstance(value, str) and value not in closed[name]:
            raise unknown(name, value, closed[name])
        if name in _PLACES and not isinstance(value, str | None):
            raise QuestionError(f"{name} {value!r}: expected a name, or several joined by commas, as one text")
        value = checked(name, value, hints[name]) if name in hints else value
        if value is None:
            return defaults[name] if name in lists else value
        if name in lists and not isinstance(value, str | Measure) and not len(value) and name not in may_be_empty:
            raise QuestionError(f"no {name}: at least one is needed; None stands for the default")
        return value

    @wraps(function)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Table:
        check_known(function.__name__, kwargs, tuple(shown.parameters))
        bound = shown.bind(*args, **kwargs)
        given = {name: check(name, value) for name, value in bound.arguments.items()}
        check_together(rules, defaults | given, defaults)
        bound.arguments.update(given)
        return function(*bound.args, **bound.kwargs).in_python

    asked.__signature__ = shown  # type: ignore[attr-defined]
    return asked


def _shown(signature: inspect.Signature, of_slice: Mapping[str, Any]) -> inspect.Signature:
    """A question's signature with each option of a slice in place of all of them. of_slice: their annotations."""
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(own) == len(signature.parameters):
        return signature
    own += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS[name], annotation=hint)
        for name, hint in of_slice.items()
    ]
    return signature.replace(parameters=own)


def _choices(hint: Any) -> tuple[str, ...]:
    """The values of a closed set, which may be optional; () for any other type."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(value for one in get_args(hint) if get_origin(one) is Literal for value in get_args(one))


def names_of(given: Names) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(dict.fromkeys(() if given is None else given))


def slice_of(testset: str, lp: str, options: DataOptions) -> Slice:
    """Raises QuestionError: there are no such segments."""
    values: dict[str, Any] = {}
    for name, value in options.items():
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


def measures_of(given: Measures, *, may_lack: bool = False) -> list[Measure]:
    """Raises QuestionError: there is none, unless there may be."""
    several = [given] if isinstance(given, str | Measure) else () if given is None else given
    if not len(several) and not may_lack:
        raise QuestionError("no measures: at least one is needed")
    return list(dict.fromkeys(measure_of(one) for one in several))
