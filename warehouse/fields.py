"""Fields of a question: options with types, limits and help, which are read and checked when an object is made.

Light: needs only the standard library, because help and completion use the fields.
"""

import math
import re
import types
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, cached_property, partial
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as shortened
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from warehouse.errors import NEAR, QuestionError, one_of
from warehouse.wording import option

_SEPARATED = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+")  # by thousands


def describe_limits(least: float | None, most: float | None) -> str:
    """Limits of a number; empty if there are none.

    >>> describe_limits(1, 1024), describe_limits(0, None), describe_limits(None, 15)
    ('from 1 to 1,024', 'from 0 on', 'of at most 15')
    """
    if least is None:
        return "" if most is None else f"of at most {most:,}"
    return f"from {least:,} on" if most is None else f"from {least:,} to {most:,}"


Panel = Literal["Arguments", "Options", "Data", "Metrics", "Computation", "Tests and resampling"]


@dataclass(frozen=True)
class Option:
    """Properties of a field of a question, in addition to its name, type and default.

    flags: names on the command line if they differ from the field's name, without dashes; for a switch, its opposite
    last. names: the kind of name in the warehouse, such as "metric", which is completed and matched in any case;
    "scorer" is a metric or a system.
    default: the default in words, if it is not the value.
    needs: the field has no effect unless one of these fields is set. excludes: fields with which it cannot be combined,
    and why. may_be_number: a text that may be a number, and may be passed as one in Python. is_computing: only affects
    how results are computed; it changes no number, so it is in no signature. formerly: its name in the previous
    version, which is still accepted with a warning that gives the new name.
    """

    help: str
    flags: tuple[str, ...] = ()
    panel: Panel = "Options"
    metavar: str | None = None
    names: str | None = None
    default: str | None = None
    least: float | None = None
    most: float | None = None
    needs: tuple[str, ...] = ()
    excludes: "Mapping[str, str] | tuple[str, ...]" = ()
    may_be_number: bool = False
    is_computing: bool = False
    formerly: str | None = None


Argument = partial(Option, panel="Arguments")


@dataclass(frozen=True)
class Field:
    """A field with its option. kind: its type, without None; default: MISSING if it has none."""

    name: str
    kind: Any
    option: Option
    default: Any
    may_be_none: bool

    @property
    def is_argument(self) -> bool:
        return self.option.panel == "Arguments"

    @cached_property
    def is_list(self) -> bool:
        return get_origin(self.kind) is tuple and get_args(self.kind)[1:] == (...,)

    @cached_property
    def element(self) -> Any:
        """The type of one value."""
        return get_args(self.kind)[0] if self.is_list else self.kind

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The values of a closed set; () for any other type."""
        return get_args(self.element) if get_origin(self.element) is Literal else ()

    def read(self, value: Any) -> Any:
        """A value converted for the field: lists to tuples, each name once, numpy numbers to Python's.

        Raises QuestionError: wrong type, or outside the limits.
        """
        if value is None:
            if self.may_be_none:
                return None
            if self.default is not MISSING:
                return self.default
        if self.is_list:
            if isinstance(value, str) or not isinstance(value, Collection | Iterator) or isinstance(value, Mapping):
                value = (value,)
            if self.option.names == "measure":
                value = [part for one in value for part in (apart(one) if isinstance(one, str) else [one])]
            read = tuple(dict.fromkeys(self._checked_value(one) for one in value))
            if not read and self.default:
                raise QuestionError(f"no {option(self.name)}: at least one is needed")
            return read
        return self._checked_value(value)

    def parsed(self, text: str) -> Any:
        """One value parsed from a command-line word.

        Raises QuestionError: see `read`.
        """
        if self.element in (int, float):
            try:
                return self._checked_value(self.element(text))
            except ValueError:
                raise self._refused(text) from None
        return self._checked_value(Path(text) if self.element is Path else text)

    def _checked_value(self, value: Any) -> Any:
        kind = self.element
        if kind is str and any(base.__name__ == "Measure" for base in type(value).__mro__):
            return str(value)
        if self.option.may_be_number and isinstance(value, Real) and not isinstance(value, bool):
            return str(value)
        if self.choices:
            alike = [one for one in self.choices if isinstance(value, str) and one.casefold() == value.casefold()]
            if value not in self.choices and len(alike) != 1:
                wanted = one_of(value, self.choices)
                raise QuestionError(f"{option(self.name)} {shortened(value)}: expected {wanted}")
            return value if value in self.choices else alike[0]
        if kind in (int, float):
            wanted_kind = Integral if kind is int else Real
            if isinstance(value, wanted_kind) and not isinstance(value, bool):
                number = kind(value)
                if self._is_within(number):
                    return number
            raise self._refused(value)
        if kind is bool and type(value).__name__ == "bool_":
            value = bool(value)
        if isinstance(kind, type) and not isinstance(value, kind) and not (kind is Path and isinstance(value, str)):
            raise self._refused(value)
        return Path(value) if kind is Path else value

    def _refused(self, value: Any) -> QuestionError:
        near = self._near(value)
        hint = "" if near is None else f"; {NEAR} {near:.15g}?"
        return QuestionError(f"{option(self.name)} {shortened(value)}: expected {self.expected}{hint}")

    def _near(self, value: Any) -> float | None:
        """The number that was probably meant: with a decimal point, a share instead of per cent, no separators."""
        text = str(value).strip()
        if _SEPARATED.fullmatch(text):
            text = text.replace(",", "")
        elif self.element is not float:
            return None
        try:
            number = float(text.removesuffix("%").replace(",", ".", 1))
        except ValueError:
            return None
        most = self.option.most
        if most is not None and most <= 1 and (text.endswith("%") or number >= 2 * most):
            number /= 100
        return number if self._is_within(number) and number != value else None

    def _is_within(self, number: float) -> bool:
        least, most = self.option.least, self.option.most
        return math.isfinite(number) and (least is None or number >= least) and (most is None or number <= most)

    @property
    def expected(self) -> str:
        """The expected value, in words."""
        words = {str: "a text", bool: "True or False", Path: "a path", int: "a whole number", float: "a finite number"}
        more = " or a number" if self.option.may_be_number else ""
        return f"{words[self.element]}{more} {self.limits}".rstrip()

    @property
    def help(self) -> str:
        """The help text, with limits if there is a maximum; a minimum alone goes without saying."""
        said = self.option.help
        return said if self.option.most is None else f"{said.removesuffix('.')}, {self.limits.removeprefix('of ')}."

    @property
    def limits(self) -> str:
        """Limits such as "from 1 to 1,024"; empty if there are none."""
        return describe_limits(self.option.least, self.option.most)


def apart(text: str) -> list[str]:
    """Splits measures joined by commas; commas in parentheses belong to one measure.

    >>> apart("spa, acc_eq(by=item,variant=23),pa")
    ['spa', 'acc_eq(by=item,variant=23)', 'pa']
    """
    return re.split(r",\s*(?![^()]*\))", text)


def under_current_names(question: "type[Fields]", values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by field name; a name from the previous version is replaced, with a warning."""
    renamed = {one.option.formerly: name for name, one in fields_of(question).items() if one.option.formerly}
    for old in renamed.keys() & values.keys():
        warnings.warn(f"{old} is now called {renamed[old]}", FutureWarning, stacklevel=3)
    return {renamed.get(name, name): value for name, value in values.items()}


def fields_of(question: "type[Fields]") -> Mapping[str, Field]:
    """The fields of a question that are options, by name: arguments, then its own, then those of many questions."""
    return _fields_of(question)  # type: ignore[arg-type]


@cache
def _fields_of(question: Any) -> Mapping[str, Field]:
    hints = get_type_hints(question, include_extras=True)
    own = set(question.__annotations__)
    found = []
    for item in fields(question):
        said = next((one for one in getattr(hints[item.name], "__metadata__", ()) if isinstance(one, Option)), None)
        if said is None or item.name in question.without:
            continue
        if item.name in question.needs:
            said = replace(said, needs=question.needs[item.name])
        kind, *_ = get_args(hints[item.name]) if get_origin(hints[item.name]) is Annotated else (hints[item.name],)
        inner = [one for one in get_args(kind) if one is not types.NoneType]
        is_optional = get_origin(kind) in (Union, types.UnionType)
        found.append(
            Field(item.name, inner[0] if is_optional else kind, said, item.default, is_optional and len(inner) == 1)
        )
    arguments = [one for one in found if one.is_argument]
    rest = [one for one in found if not one.is_argument]
    rest.sort(key=lambda one: one.name not in own)
    return {one.name: one for one in (*arguments, *rest)}


F = TypeVar("F", bound="Fields")


@dataclass(frozen=True, kw_only=True)
class Fields:
    """Base of classes whose fields are options, read and checked when an object is made.

    needs: for fields shared with other classes, as in `Option`. without: shared fields that are not options of this
    class. hidden: fields that appear only in the help of another class.
    Raises QuestionError: a value that does not fit, or options that cannot be combined.
    """

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    without: ClassVar[tuple[str, ...]] = ()
    hidden: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        known = fields_of(type(self))
        changed = [one for one in known.values() if getattr(self, one.name) is not one.default]
        for field in changed:
            object.__setattr__(self, field.name, field.read(getattr(self, field.name)))
        for field in changed:
            if getattr(self, field.name) != field.default:
                self._check_beside(field.name, field.option)
        needed = self.needs.get("charted", ()) if self.meets("charted") else ()
        if needed and not any(map(self.meets, needed)):
            raise QuestionError(f"a chart needs {' or '.join(map(self._named, needed))}")
        self.check_fields()

    def check_fields(self) -> None:
        """Raises QuestionError: options cannot be combined for a reason other than `needs` and `excludes`."""

    def part(self, kind: "type[F]") -> "F":
        """The settings of one kind only; fields that this object does not have get their defaults.

        Studies take such a part, which they can change, compare, and use as a key of results, whatever the question is.
        """
        return kind(**{one.name: getattr(self, one.name) for one in fields(kind) if hasattr(self, one.name)})

    def differs_from_default(self, name: str) -> bool:
        """Whether a field's value differs from its default."""
        return bool(getattr(self, name) != fields_of(type(self))[name].default)

    def meets(self, name: str) -> bool:
        """Whether a field is set; `name=value`: to that value, `name=`: to none."""
        name, is_value, value = name.partition("=")
        got = getattr(self, name, None)
        return (got or "") == value if is_value else bool(got)

    def given(self) -> dict[str, Any]:
        """The fields that are not at their defaults and may change a number."""
        known = fields_of(type(self))
        return {
            name: getattr(self, name)
            for name in known
            if self.differs_from_default(name) and not known[name].option.is_computing
        }

    def _check_beside(self, name: str, said: Option) -> None:
        if said.needs and not any(map(self.meets, said.needs)):
            known = fields_of(type(self))
            for kind in (one.partition("=")[0] for one in said.needs):
                switch = str(getattr(self, kind, "")).replace("-", "_")  # which has set a property that is no field
                if kind not in known and switch in known:
                    raise QuestionError(f"{option(name)} and {option(switch, True)} cannot be combined")
            wanted = " or ".join(self._named(one) for one in said.needs if not one.endswith("=") and one != "charted")
            raise QuestionError(f"{option(name)} needs {wanted}")
        for other in said.excludes:
            if self.meets(other):
                why = said.excludes[other] if isinstance(said.excludes, Mapping) else ""
                raise QuestionError(
                    f"{option(name)} and {self._named(other)} cannot be combined" + (f": {why}" if why else "")
                )

    def _named(self, condition: str) -> str:
        """A field of `needs` or `excludes`, as named in a message."""
        if condition == "charted":
            return "a chart"
        name, _, value = condition.partition("=")
        return option(name, value or (True if fields_of(type(self))[name].kind is bool else None))
