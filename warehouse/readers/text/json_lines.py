"""JSON objects, one per line; each line that is none is a fault."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import Fault
from warehouse.readers.text.tables import first_faults

ONE_OBJECT = "one JSON object per line"
_HALF = "half of a surrogate pair, which is not a character"


def json_objects(text: str, path: Path, faults: list[Fault]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of each line; numbers are floats, NaN is None. Faults are added to `faults`."""
    decoder = json.JSONDecoder(parse_int=float, parse_constant=_constant, object_pairs_hook=_each_once)
    wrong: list[Fault] = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        found = f"not a JSON object, {line!r}" if line.strip() else "a blank line"
        try:
            content = decoder.decode(line)
        except _TwiceError as twice:
            content, found = None, f"the key {twice} twice in one object"
        except (ValueError, RecursionError):
            content = None
        is_whole = has_whole_characters(line, content)
        if isinstance(content, dict) and is_whole:
            yield number, content
            continue
        wrong.append(Fault(str(path), number, found if is_whole else _HALF, ONE_OBJECT, kind=ONE_OBJECT))
    faults += first_faults(wrong)


def json_document(text: str, path: Path, faults: list[Fault]) -> Any:
    """What a text is as a whole; NaN is None. None where it is no JSON, which is added to `faults`."""
    try:
        content = json.loads(text, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        faults.append(Fault(str(path), line, "not a JSON document", "one, whole"))
        return None
    if has_whole_characters(text, content):
        return content
    faults.append(Fault(str(path), 0, _HALF, "text in UTF-8"))
    return None


def first_object(head: Sequence[str]) -> dict[str, Any] | None:
    """The object of the first of the lines that is one; None where there is none."""
    for line in head:
        try:
            content = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict) and has_whole_characters(line, content):
            return content
    return None


def has_whole_characters(text: str, content: Any) -> bool:
    """Whether what JSON decodes to can be written as UTF-8; escapes in the text may be halves of surrogate pairs.

    >>> [has_whole_characters(text, json.loads(text)) for text in (r'["\\ud83d\\ude00"]', r'["\\ud83d"]')]
    [True, False]
    """
    if "\\ud" not in text.lower():
        return True
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


class _TwiceError(Exception):
    """A key that an object has twice."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(repr(next(key for key in keys if keys.count(key) > 1)))
    return content


def _constant(name: str) -> float | None:
    return None if name == "NaN" else float(name.replace("Infinity", "inf"))
