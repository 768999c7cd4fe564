"""JSON: numbers as numbers in full precision, NaN and infinity as null, short lists on one line."""

import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal

INDENT = "  "
_PLAIN = (str, int, bool, type(None))
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_UNSEEN = (*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPES = {number: f"\\u{number:04x}" for number in _UNSEEN}  # what a terminal would obey, or would turn around


def json_text(value: object) -> str:
    """Indented JSON with a line break at the end.

    >>> print(json_text([{"metric": "X-src", "p": [[None, 0.5], [float("nan"), None]]}]), end="")
    [
      {
        "metric": "X-src",
        "p": [
          [null, 0.5],
          [null, null]
        ]
      }
    ]
    """
    return _pretty(plain(value), "") + "\n"


def json_lines(value: object) -> str:
    """One line of JSON for each item of a list; anything else is one line.

    >>> print(json_lines([{"a": 1}, {"a": None}]), end="")
    {"a": 1}
    {"a": null}
    """
    simple = plain(value)
    items = simple if isinstance(simple, list) else [simple]
    return "".join(f"{_dump(item)}\n" for item in items)


def compact(value: object) -> str:
    """JSON on one line."""
    return _dump(plain(value))


def plain(value: object) -> object:
    """The value in JSON's own types: numbers that are not finite become None, dates ISO text, durations seconds.

    Raises TypeError: a value that JSON has no form for.
    """
    if type(value) in _PLAIN:
        return value
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        return value.hex()
    for method in ("to_dicts", "to_list", "tolist"):  # frames, columns, arrays and their numbers
        if callable(convert := getattr(value, method, None)):
            return plain(convert())
    raise TypeError(f"no JSON form for a {type(value).__name__}")


def _dump(value: object) -> str:
    text = _ENCODER.encode(value)
    return text if text.isascii() and "\x7f" not in text else text.translate(_ESCAPES)


def _pretty(value: object, margin: str) -> str:
    inner = margin + INDENT
    if isinstance(value, dict) and value:
        parts = [f"{inner}{_dump(key)}: {_pretty(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{margin}}}"
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        parts = [inner + _pretty(item, inner) for item in value]
        return "[\n" + ",\n".join(parts) + f"\n{margin}]"
    return _dump(value)
