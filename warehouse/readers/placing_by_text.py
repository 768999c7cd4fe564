"""Match scores to segments, by the order of the test set or by the texts that were scored.

The order counts if there are as many scores as segments and no text contradicts it; otherwise the texts decide.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.claims import EvalsetKey, KnownTexts
from warehouse.wording import counted

BY_ORDER = "no segment column: the rows of each system are read in the order of the test set"
Texts = tuple[str, ...]  # source and translation, or what of them is known


def placed(
    rows: pl.DataFrame, evalset: EvalsetKey, known: KnownTexts | None, path: Path
) -> tuple[pl.DataFrame, list[Fault], list[str]]:
    """The rows with the numbers of their segments, faults of systems whose rows cannot be placed, and notes.

    rows: in the file's order, with line, system, source and translation (null if the file has none); of tables also
        with row, row1 …, the row indices. If only the order counts, these must increase within each system.
    known: None if the warehouse does not have the evaluation set; then the rows are numbered.
    """
    parts: list[pl.DataFrame] = []
    faults: list[Fault] = []
    notes: list[str] = []
    by_order: list[str] = []
    for (system,), block in rows.group_by("system", maintain_order=True):
        if known is None or not known.segments:
            parts.append(block.with_columns(segment=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)))
            by_order.append(str(system))
            continue
        found, note = _segments(block, str(system), known)
        if None not in found:
            parts.append(block.with_columns(segment=pl.Series(found, dtype=pl.Int64)))
            notes += [f"{system}: {note}"] if note not in ("", BY_ORDER) else []
            by_order += [str(system)] if note == BY_ORDER else []
            continue
        first = block["line"][0] or 0
        expected = f"{len(known.segments)}, one per segment of {' '.join(evalset)}"
        faults.append(Fault(str(path), first, f"{counted(block.height, 'score')} of {system!r}{note}", expected))
    if by_order and "row" in rows.columns:
        notes.append(BY_ORDER)
        faults += _reordered(rows.filter(pl.col("system").is_in(by_order)), path)
    return pl.concat(parts) if parts else rows.clear().with_columns(segment=pl.lit(None, pl.Int64)), faults, notes


def _reordered(rows: pl.DataFrame, path: Path) -> list[Fault]:
    """The fault of a table whose row index decreases within a system."""
    found = "row {:.0f} behind row {:.0f} of {!r}: the rows were reordered"
    for index in (name for name in rows.columns if name.startswith("row")):
        fallen = rows.with_columns(before=pl.col(index).shift(1).over("system")).filter(
            pl.col(index) < pl.col("before")
        )
        for line, *found_there in fallen.select("line", index, "before", "system").head(1).iter_rows():
            expected = "rows in the original order, or a segment column"
            return [Fault(str(path), line or 0, found.format(*found_there), expected)]
    return []


def _segments(block: pl.DataFrame, system: str, known: KnownTexts) -> tuple[Sequence[int | None], str]:
    """The segment of each row (None if unknown), and messages about it."""
    segments = known.segments
    outputs = known.outputs.get(known.systems.get(system, system), {})
    named = [name for name, texts in (("source", known.sources), ("translation", outputs)) if texts]
    named = [name for name in named if block[name].null_count() < block.height]
    if not named and block.height == len(segments):
        return segments, BY_ORDER
    if not named:
        has_texts = block.select(pl.col("source", "translation").is_not_null().any()).row(0)
        return [
            None
        ] * block.height, f" and no texts in the {'warehouse' if any(has_texts) else 'file'} to match them by"
    columns = {"source": known.sources, "translation": outputs}
    there = [tuple(_plain(columns[name].get(segment)) for name in named) for segment in segments]
    here = [tuple(map(_plain, row)) for row in block.select(named).iter_rows()]
    if here == there:
        return segments, ""
    found = _by_texts(here, there, segments)
    n_lost = found.count(None)
    texts = " and ".join(named)
    if block.height == len(segments) and all(
        at in (None, segment) for at, segment in zip(found, segments, strict=True)
    ):
        return segments, f"placed by order; {counted(n_lost, 'segment')} with other {texts} than in the warehouse"
    if not n_lost:
        return found, f"placed by {texts}, not by order"
    return found, f", {n_lost} of them with a {texts} that the warehouse does not have or has in several segments"


def _by_texts(here: Sequence[Texts], there: Sequence[Texts], segments: Sequence[int]) -> list[int | None]:
    """The segment with the same texts; repeated texts are matched in order if the file has all of them, else None."""
    places: dict[Texts, list[int]] = defaultdict(list)
    for texts, segment in zip(there, segments, strict=True):
        places[texts].append(segment)
    asked = Counter(here)
    left = {texts: iter(places[texts]) for texts, n in asked.items() if n == len(places.get(texts, ()))}
    return [next(left[texts]) if texts in left else None for texts in here]


def _plain(text: str | None) -> str:
    """A text with single spaces as its only blanks, because tools change blanks."""
    return "" if text is None else " ".join(text.split())
