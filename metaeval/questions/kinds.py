"""Which values fit the annotation of a parameter, and what is expected, in words."""

import math
import types
from collections.abc import Collection, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from metaeval.limits import LEAST, MOST
from metaeval.measures import Measure
from warehouse import QuestionError, Warehouse

_WORDS: Mapping[Any, tuple[str, str]] = {
    str: ("a text", "texts"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("True or False", "True or False"),
    Path: ("a path", "paths"),
    Measure: ("a measure", "measures"),
    Warehouse: ("an open warehouse, Warehouse.open(path)", "open warehouses"),
    types.NoneType: ("None", "None"),
}


def checked(name: str, value: Any, hint: Any) -> Any:
    """A value that fits an annotation; numbers of numpy as Python's, and what an iterator yields as a tuple.

    Raises QuestionError: it does not fit, is too small or too large, or a number that is not finite.
    """
    if isinstance(value, np.bool_):
        value = bool(value)
    elif isinstance(value, Iterator):
        value = tuple(value)
    if not _fits(value, hint):
        raise QuestionError(f"{name} {shortened(value)}: expected {_expected(hint)}")
    if isinstance(value, Integral) and not isinstance(value, bool):
        value = int(value)
        if name in LEAST and value < LEAST[name]:
            raise QuestionError(f"{name} {value}: expected a whole number of at least {LEAST[name]}")
        if name in MOST and value > MOST[name]:
            raise QuestionError(f"{name} {value}: expected a whole number of at most {MOST[name]:,}")
    elif isinstance(value, Real) and not isinstance(value, bool):
        value = float(value)
    if not _is_finite(value):
        what = "a finite number" if isinstance(value, Real) else "finite numbers"
        raise QuestionError(f"{name} {shortened(value)}: expected {what}")
    return value


def _is_finite(value: Any) -> bool:
    """Whether no number in a value is NaN or infinite."""
    if isinstance(value, Real):
        return math.isfinite(value)
    several = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
    return not several or all(map(_is_finite, value))


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin is tuple:
        return isinstance(value, list | tuple) and len(value) == len(inner) and all(map(_fits, value, inner))
    if origin is Sequence:
        is_several = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
        return is_several and all(_fits(one, inner[0]) for one in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_fits(key, inner[0]) and _fits(value[key], inner[1]) for key in value)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    return hint not in _WORDS or isinstance(value, hint)


def _expected(hint: Any, *, several: bool = False) -> str:
    """The annotation in words.

    >>> _expected(str | Sequence[str] | None), _expected(tuple[int, int])
    ('a text, a list of texts or None', '2 whole numbers')
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        words = list(dict.fromkeys(_expected(one, several=several) for one in inner))
        return " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
    if origin is Literal:
        return f"one of {', '.join(inner)}"
    if origin is tuple:
        return f"{len(inner)} {_expected(inner[0], several=True)}"
    if origin is Sequence:
        return f"a list of {_expected(inner[0], several=True)}"
    if origin is Mapping:
        return f"a mapping of {_expected(inner[0], several=True)} to {_expected(inner[1], several=True)}"
    return _WORDS[hint][several]
