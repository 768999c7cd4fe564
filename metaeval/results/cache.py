"""Stored results: one cache for all, keyed by everything that a result depends on."""

import hashlib
import json
import time
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from metaeval.results.notes import Decisive, ExclusionNote, NoteWithHint, Partial
from metaeval.results.signature import program_version, slice_parts
from queries.blocks import Block
from warehouse import Warehouse
from warehouse.database.connection import StoredResult, store_results, stored_payloads
from warehouse.names import LARGEST_SCORE
from warehouse.wording import option

SHAPE = 22  # counts up when stored results get another form, or another test by default
FROM_STORE = f"stored result; {option('recompute', True)} computes it again"
DAMAGED = "the stored result was damaged; recomputed"
Result = TypeVar("Result")


@dataclass(frozen=True)
class CacheEntry(Generic[Result]):
    """An entry of the cache, whether or not it is there yet.

    kind, testset, lp: columns of table `result`. answer: class of the result, a dataclass with a signature. notes: on
    the result found under the key.
    """

    key: str
    kind: str
    testset: str
    lp: str
    answer: type[Result]
    notes: list[str] = field(default_factory=list, compare=False)

    def stored(self, warehouse: Warehouse) -> Result | None:
        """The result, if it was computed before; None, and a note, if the stored one is damaged."""
        return self.among(stored_payloads(warehouse, [self.key]))

    def among(self, payloads: Mapping[str, str]) -> Result | None:
        """The result among payloads by key; see `stored`."""
        payload = payloads.get(self.key)
        try:
            return None if payload is None else decoded(self.answer, payload)
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
            self.notes.append(DAMAGED)
            return None

    def computed(self, database: Path | None, compute: Callable[[], Result]) -> tuple[Result, list[str]]:
        """Compute the result and keep it in a short transaction; also a line if it could not be kept.

        database: None keeps nothing. No warehouse may be open on the file in this process. Drawn differences (`null`)
        are not kept.
        """
        started = time.perf_counter()
        found = compute()
        if database is None:
            return found, []
        return found, [*self.notes, *keep(database, [(self, found, time.perf_counter() - started)])]

    def as_stored(self, found: Result, seconds: float) -> StoredResult:
        """The row that keeps a result. seconds: how long it took."""
        kept: Any = found
        if hasattr(kept, "null"):
            kept = replace(kept, null=None)
        text, signature = encoded(kept), str(kept.signature)
        return StoredResult(self.key, self.kind, self.testset, self.lp, signature, text, program_version(), seconds)


def keep(database: Path, found: Sequence[tuple[CacheEntry[Result], Result, float]]) -> list[str]:
    """Keep results, each with its entry and the seconds it took, in one transaction; a line if that failed.

    No warehouse may be open on the file in this process.
    """
    refused = store_results(database, [entry.as_stored(answer, seconds) for entry, answer, seconds in found])
    what = "result was" if len(found) == 1 else "results were"
    return [] if refused is None else [f"the {what} not stored: {refused}"]


def content(block: Block) -> str:
    """Checksum of everything in a block that a result and its notes can depend on: names, scores, missing values."""
    selection = block.selection
    digest = hashlib.sha256()
    described = (
        slice_parts(selection),
        selection.n_segments,
        selection.documents,
        selection.domains,
        block.systems,
        [(metric.name, metric.base_name, metric.segment_gap) for metric in block.metrics],
        [(choice.name, choice.base_name, choice.reason) for choice in selection.metrics if choice.reason is not None],
    )
    digest.update(json.dumps(described, default=str).encode())
    arrays: list[npt.NDArray[Any]] = [block.segments, block.human, block.scores, block.human_submitted, block.submitted]
    if block.marked_errors is not None:
        arrays.append(block.marked_errors)
    if (spans := block.spans) is not None:
        digest.update(json.dumps(spans.systems).encode())
        arrays += [spans.scorer, spans.system, spans.segment, spans.annotation, spans.start, spans.end]
        arrays += [spans.is_in_source, spans.is_major]
    if (found := block.preferences) is not None:
        digest.update(json.dumps((found.systems, [*found.by_metric])).encode())
        arrays += [found.first, found.second, found.segment, found.answer, *found.by_metric.values()]
    for array in arrays:
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    for other in block.elsewhere:
        digest.update(content(other).encode())
    return digest.hexdigest()


def key(kind: str, blocks: Iterable[Block], *parts: object) -> str:
    """Key of a result: what was computed, from which scores, with which parameters, by which version."""
    return key_of(kind, [content(block) for block in blocks], *parts)


def key_of(kind: str, contents: Sequence[str], *parts: object) -> str:
    """`key`, if the checksums of the result's inputs are already known."""
    described = [kind, SHAPE, program_version(), list(contents), [_plain(part) for part in parts]]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _plain(part: object) -> object:
    """A parameter as JSON can hold it; fields of options that do not count in comparisons are None."""
    if is_dataclass(part) and not isinstance(part, type):
        return {one.name: getattr(part, one.name) if one.compare else None for one in fields(part)}
    return part if isinstance(part, str | int | float | bool | None) else str(part)


def encoded(result: object) -> str:
    """A dataclass of arrays, tuples, dictionaries, other dataclasses and plain values as JSON; NaN is null.

    Raises TypeError: a value of another kind.
    """
    return json.dumps(_plain_json(result), allow_nan=False)


_AS_THEY_ARE = frozenset({str, int, float, bool, type(None)})  # subclasses of str are notes


def _plain_json(value: object) -> object:
    if type(value) in _AS_THEY_ARE:  # most values, such as the numbers of arrays
        return None if value != value else value
    if isinstance(value, ExclusionNote):
        return {name: _plain_json(getattr(value, name)) for name in ("text", "hint", "what", "n", "names")}
    if isinstance(value, NoteWithHint):
        return {"text": value.text, "hint": value.hint}
    if isinstance(value, Decisive):
        name = "partial" if isinstance(value, Partial) else "decisive"
        return {name: str(value), "kind": value.kind, "case": value.case, "size": float(value.size)}
    if is_dataclass(value) and not isinstance(value, type):
        return {_stored_name(item): _plain_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, np.ndarray):
        return _plain_json(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain_json(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain_json(item) for name, item in value.items()}
    if isinstance(value, float) and np.isnan(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{type(value).__name__} cannot be stored")


def _stored_name(item: Field[Any]) -> str:
    """The key of a field in stored results, which SQL views read: its name, unless its metadata give another."""
    return str(item.metadata.get("stored", item.name))


def decoded(kind: type[Result], text: str) -> Result:
    """A dataclass as it was stored."""
    found: Result = _decoded(kind, json.loads(text))
    return found


_PLAIN: Mapping[Any, tuple[type, ...]] = {str: (str,), bool: (bool,), int: (int,), float: (float, int)}


def _decoded(hint: Any, data: Any) -> Any:
    """A value of the type that a field is annotated with.

    Raises TypeError: a value of another type. ValueError: a number that no result has.
    """
    hint = _written_out(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        hints, names = get_type_hints(hint), {_stored_name(item): item.name for item in fields(hint)}
        return hint(**{names[key]: _decoded(hints[names[key]], value) for key, value in data.items()})  # type: ignore[operator]
    if origin in (Union, types.UnionType):
        return None if data is None else _decoded(next(one for one in inner if one is not type(None)), data)
    if origin is np.ndarray:
        array = np.array(data, dtype=get_args(inner[1])[0])
        if array.dtype.kind == "f" and (np.abs(array) > LARGEST_SCORE).any():
            raise ValueError(f"a number beyond {LARGEST_SCORE:g}")
        return array
    if origin is tuple:
        each = [inner[0]] * len(data) if inner[-1] is Ellipsis else inner
        return tuple(_decoded(one, value) for one, value in zip(each, data, strict=True))
    if origin is dict:
        return {name: _decoded(inner[1], value) for name, value in data.items()}
    if hint is str and isinstance(data, dict):
        kinds = {"partial": Partial, "decisive": Decisive, "names": ExclusionNote}
        kind = next((one for name, one in kinds.items() if name in data), NoteWithHint)
        return kind(*data.values())
    if hint is float and data is None:
        return float("nan")
    wanted = _PLAIN.get(hint)
    if isinstance(data, list | dict) or (wanted is not None and type(data) not in wanted):
        raise TypeError(f"{hint} cannot be read from a {type(data).__name__}")
    if type(data) in (int, float) and abs(data) > LARGEST_SCORE:
        raise ValueError(f"a number beyond {LARGEST_SCORE:g}")
    return data


def _written_out(hint: Any) -> Any:
    """The type behind a named alias: NumPy's `NDArray` is an alias from 2.5 on."""
    alias = get_origin(hint)
    return alias.__value__[get_args(hint)] if hasattr(alias, "__value__") else hint
