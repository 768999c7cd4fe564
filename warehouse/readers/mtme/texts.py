"""Text files: sources, references and system outputs, one segment a line, plain or JSON."""

import json
from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from warehouse.database.stage import Documents, Stage
from warehouse.names import system_kind
from warehouse.readers.contents import Content
from warehouse.readers.mtme.lines import lines_of, n_segments_in_words, report
from warehouse.readers.mtme.place import Place
from warehouse.wording import counted

_KINDS = {"sources": "source", "references": "reference", "system-outputs": "output"}
_KEYS = {
    "source": ("source", "src", "text"),
    "reference": ("target", "reference", "ref", "text"),
    "output": ("hypothesis", "target", "output", "text"),
}


def note_system(content: Content, place: Place, stage: Stage) -> None:
    """Note the system that a reference or an output is the text of."""
    kind = "human" if place.folder == "references" else system_kind(place.name)
    stage.add_systems(content.file_no, {place.name: kind})


def read_texts(content: Content, place: Place, documents: Documents | None, stage: Stage) -> None:
    """Stage one text file; documents: None where their file is faulty, so that lines cannot be counted."""
    kind = _KINDS[place.folder]
    lines = lines_of(content)
    if documents is None:
        return
    if len(lines) != len(documents):
        report(stage, content, [(len(lines), counted(len(lines), "line"), n_segments_in_words(documents, stage))])
        return
    if place.extension == "jsonl":
        texts = list(_json_texts(lines, _KEYS[kind]))
        expected = f"a JSON object with one of {', '.join(_KEYS[kind])}"
        if report(stage, content, [(n, "no text", expected) for n, text in enumerate(texts, start=1) if text is None]):
            return
        lines = [text for text in texts if text is not None]
    frame = pl.DataFrame({"segment": range(1, len(lines) + 1), "text": pl.Series(lines, dtype=pl.String)})
    name = pl.lit(place.name or None, dtype=pl.String)
    stage.add("text", frame.with_columns(file_no=pl.lit(content.file_no), kind=pl.lit(kind), name=name))
    stage.n_rows[content.file_no] = len(lines)


def _json_texts(lines: Iterable[str], keys: Sequence[str]) -> Iterator[str | None]:
    """The text of each line; None where there is none, or one that is no Unicode text."""
    for line in lines:
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            data = None
        found = [data[key] for key in keys if isinstance(data, dict) and isinstance(data.get(key), str)]
        yield found[0] if found and is_unicode(found[0]) else None


def is_unicode(text: str) -> bool:
    """Whether a text can be written as UTF-8; JSON may bring halves of surrogate pairs, which can't.

    >>> is_unicode("ß"), is_unicode(chr(0xD800))
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
