"""JSON objects, one per line or in one list; any other line or item is a fault."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import Fault
from warehouse.readers.text.tables import first_faults

ONE_OBJECT = "one JSON object per line"
_LIST = re.compile(r"\s*\[\s*\{")
_HALF = "half of a surrogate pair, which is not a character"


def json_objects(text: str, path: Path, faults: list[Fault]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each line, or of each item of a list; numbers are floats, NaN is None.

    Faults are added to `faults`.
    """
    if is_list([text]):
        yield from _items(text, path, faults)
        return
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


def is_list(head: Sequence[str]) -> bool:
    """Whether a text begins as a list of objects does.

    >>> is_list(["[", ' {"a": 1},']), is_list(["[1, 2]"]), is_list(['{"a": []}'])
    (True, False, False)
    """
    return _LIST.match("\n".join(head)) is not None


def _items(text: str, path: Path, faults: list[Fault]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number, from 1, and object of each item of a list."""
    content = json_document(text, path, faults, parse_int=float)
    if content is None:
        return
    wrong = [(number, item) for number, item in enumerate(content, start=1) if not isinstance(item, dict)]
    faults += first_faults(
        [Fault(str(path), 0, f"item {number}: {item!r}", "a list of objects", kind="items") for number, item in wrong]
    )
    yield from ((number, item) for number, item in enumerate(content, start=1) if isinstance(item, dict))


def json_document(text: str, path: Path, faults: list[Fault], parse_int: Callable[[str], Any] = int) -> Any:
    """The JSON value of a whole text; NaN is None. None if it is not JSON, which is added to `faults`."""
    try:
        content = json.loads(text, parse_constant=_constant, parse_int=parse_int, object_pairs_hook=_each_once)
    except _TwiceError as twice:
        faults.append(Fault(str(path), 0, f"the key {twice} twice in one object", "each once"))
        return None
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        faults.append(Fault(str(path), line, "not a JSON document", "one, whole"))
        return None
    if has_whole_characters(text, content):
        return content
    faults.append(Fault(str(path), 0, _HALF, "text in UTF-8"))
    return None


def first_object(head: Sequence[str]) -> dict[str, Any] | None:
    """The first object in the lines or in a list; None if there is none."""
    return next(iter(objects_in(head)), None)


def objects_in(head: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The objects among the lines; of a list, the objects that are complete in its first lines."""
    if is_list(head):
        text = "\n".join(head)
        at = text.index("{")
        while at >= 0:
            try:
                content, at = json.JSONDecoder().raw_decode(text, at)
            except (ValueError, RecursionError):
                return
            if not has_whole_characters(text[:at], content):
                return
            yield content
            at = text.find("{", at)
        return
    for line in head:
        try:
            content = json.loads(line) if line.startswith("{") else None
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict) and has_whole_characters(line, content):
            yield content


def has_whole_characters(text: str, content: Any) -> bool:
    """Whether decoded JSON can be written as UTF-8; escapes in the text may be halves of surrogate pairs.

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
    """A key occurs twice in an object."""


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(repr(next(key for key in keys if keys.count(key) > 1)))
    return content


def _constant(name: str) -> float | None:
    return None if name == "NaN" else float(name.replace("Infinity", "inf"))
