"""Writes one evaluation set in the organisers' folder layout, from plain Python and numpy data.

All files are UTF-8 with LF; columns are separated by a TAB; there are no header lines. A value is written so
that reading it back gives the same double; a missing one is the word `None`.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.export.exported import LONGEST_NAME, UnfitError, write_text
from warehouse.facts.testsets import FACTS_FILE, TestsetFacts
from warehouse.wording import counted

Floats = NDArray[np.float64]
Errors = Sequence[Mapping[str, Any]]

MISSING = "None"
PLAIN, OF_JSON = ".txt", ".jsonl"  # files of texts


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """One scorer's scores of its systems at the levels it has; NaN is missing, absent levels are not written.

    systems: names in the order of the file; a scorer need not have scored every system.
    seg: (n_systems, n_segments). sys: (n_systems,). doc: (n_systems, n_documents), documents in the order of
        their first segment. domain: for each domain (n_systems,).
    """

    systems: Sequence[str]
    seg: Floats | None = None
    sys: Floats | None = None
    doc: Floats | None = None
    domain: Mapping[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RatingTable:
    """The error annotations behind a human score, or the errors that a metric predicted.

    errors: for each system one entry per segment: its errors, an empty sequence where the annotator found
        none, or None where no annotator looked. raters: the same shape, the annotator of each; an empty mapping
        leaves the third column out.
    """

    errors: Mapping[str, Sequence[Errors | None]]
    raters: Mapping[str, Sequence[str | None]] = field(default_factory=dict)


ScoreTables = Mapping[str, ScoreTable | Sequence[ScoreTable]]  # by scorer; several if its levels differ in systems


def write_evalset(
    folder: Path,
    lp: str,
    *,
    documents: Sequence[tuple[str, str]],
    sources: Sequence[str] | None = None,
    references: Mapping[str, Sequence[str]] | None = None,
    outputs: Mapping[str, Sequence[str]] | None = None,
    humans: ScoreTables | None = None,
    metrics: ScoreTables | None = None,
    ratings: Mapping[str, RatingTable] | None = None,
    predictions: Mapping[str, RatingTable] | None = None,
) -> list[Path]:
    """Write the evaluation set of `lp` below `folder` (the test set's folder); returns the files written.

    Files of the same name are replaced, others are left alone.
    documents: (domain, document) of each segment, in segment order; a document's segments are neighbours.
    sources, references, outputs: one text per segment; references by name (`refA`), outputs by system.
    humans, ratings: by name (`mqm`). metrics, predictions: by full variant name (`BLEU-refA`, `Kiwi-src`).
    Raises UnfitError, before anything is written: no segments; a table or a text of another length than the documents;
        an infinite value; a name that does not fit in one column; a document in two places or two domains; an unknown
        domain.
    """
    for names in ([lp], references, outputs, humans, metrics, ratings, predictions):
        for name in names or ():
            check_name(name)
    files = [(Path("documents", f"{lp}.docs"), _document_lines(documents))]
    n_segments = len(documents)
    texts = [("source", f"sources/{lp}", sources)] if sources is not None else []
    texts += [("target", f"references/{lp}.{name}", lines) for name, lines in (references or {}).items()]
    texts += [("hypothesis", f"system-outputs/{lp}/{name}", lines) for name, lines in (outputs or {}).items()]
    files += [_text_file(word, stem, lines, n_segments) for word, stem, lines in texts]
    for stem, scores, rated in (
        (f"human-scores/{lp}.", humans, ratings),
        (f"metric-scores/{lp}/", metrics, predictions),
    ):
        for name, found in (rated or {}).items():
            path = Path(f"{stem}{name}.seg.rating")
            files.append((path, _rating_lines(found, n_segments, path)))
        for name, tables in (scores or {}).items():
            for table in [tables] if isinstance(tables, ScoreTable) else tables:
                files += _score_files(table, documents, f"{stem}{name}")
    return [write_text(folder / path, text) for path, text in files]


def write_facts(folder: Path, facts: TestsetFacts) -> Path:
    """Write a test set's declarations (official metrics, standards, outliers) next to its scores."""
    resubmitted = None if facts.resubmitted == 1 else facts.resubmitted
    lines = _toml(name=facts.name, year=facts.year, description=facts.description, resubmitted=resubmitted)
    if facts.primary is not None:
        lines += ["", "[metrics]", *_toml(primary=facts.primary, baseline=facts.baseline)]
    for lp, evalset in sorted(facts.lps.items()):
        lines += ["", f"[lps.{json.dumps(lp)}]", *_toml(**{**vars(evalset), "aliases": None})]
    return write_text(folder / FACTS_FILE, "\n".join([*lines, ""]))


def _toml(**values: Any) -> list[str]:
    """Values as TOML, which writes texts, numbers and lists of texts as JSON does; sets are sorted."""
    lines = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            lines += _toml(**{f"{key}.{name}": one for name, one in sorted(value.items())})
        elif value is not None:
            lines.append(f"{key} = {json.dumps(sorted(value) if isinstance(value, frozenset) else value)}")
    return lines


def _document_lines(documents: Sequence[tuple[str, str]]) -> str:
    if not documents:
        raise UnfitError("documents: no segments to write")
    begun: set[str] = set()
    before: tuple[str, str] | None = None
    for line, here in enumerate(documents, 1):
        if here == before:
            continue
        domain, document = here
        if document in begun:
            raise UnfitError(f"documents: document {document!r} begins again at line {line}, in domain {domain!r}")
        _check_column(domain)
        begun.add(_check_column(document))
        before = here
    return "".join(f"{domain}\t{document}\n" for domain, document in documents)


def _text_file(word: str, stem: str, texts: Sequence[str], n_segments: int) -> tuple[Path, str]:
    """Lines of text, or of JSON under a word where a text has line breaks in it."""
    if len(texts) != n_segments:
        raise UnfitError(f"{stem}{PLAIN}: {counted(len(texts), 'text')}, expected {n_segments}")
    is_plain = not any("\n" in text or "\r" in text for text in texts)
    lines = texts if is_plain else [json.dumps({word: text}, ensure_ascii=False) for text in texts]
    return Path(f"{stem}{PLAIN if is_plain else OF_JSON}"), "\n".join(lines) + "\n"


def _score_files(table: ScoreTable, documents: Sequence[tuple[str, str]], stem: str) -> Iterator[tuple[Path, str]]:
    """The files of one scorer; `stem` is their path up to the level."""
    n = len(table.systems)
    for system in table.systems:
        _check_column(system)
    n_documents = len(dict.fromkeys(documents))
    levels = (("seg", table.seg, (n, len(documents))), ("doc", table.doc, (n, n_documents)), ("sys", table.sys, (n,)))
    for level, values, shape in levels:
        if values is not None:
            path = f"{stem}.{level}.score"
            _check_values(values, shape, path)
            rows = zip(table.systems, values.reshape(n, math.prod(shape[1:])), strict=True)
            yield Path(path), "".join(_lines([system] * len(row), row) for system, row in rows)
    if table.domain:
        path, domains = f"{stem}.domain.score", {domain for domain, _ in documents}
        for domain, values in table.domain.items():
            if domain not in domains:
                raise UnfitError(f"{path}: unknown domain {domain!r}, expected one of {sorted(domains)}")
            _check_values(values, (n,), path)
        lines = (_lines([f"{one}\t{name}" for name in table.systems], row) for one, row in table.domain.items())
        yield Path(path), "".join(lines)


def _lines(keys: Iterable[str], values: Floats) -> str:
    """Lines of a key and the shortest text that reads back as the same double; NaN as `None`.

    >>> _lines(["a", "b", "c"], np.array([0.1, -0.0, np.nan]))
    'a\\t0.1\\nb\\t-0.0\\nc\\tNone\\n'
    """
    words = (MISSING if math.isnan(value) else repr(value) for value in np.asarray(values, dtype=np.float64).tolist())
    return "".join(f"{key}\t{word}\n" for key, word in zip(keys, words, strict=True))


def _rating_lines(table: RatingTable, n_segments: int, path: Path) -> str:
    lines = []
    for system, errors in table.errors.items():
        _check_column(system)
        raters = table.raters.get(system, [None] * n_segments)
        if len(errors) != n_segments or len(raters) != n_segments:
            raise UnfitError(
                f"{path.as_posix()}: system {system!r} has {counted(len(errors), 'rating')}, expected {n_segments}"
            )
        for found, rater in zip(errors, raters, strict=True):
            mark = {"errors": list(found or ())}
            words = [system, MISSING if found is None else json.dumps(mark, ensure_ascii=False, allow_nan=False)]
            if table.raters:
                words.append(MISSING if rater is None else _check_column(rater))
            lines.append("\t".join(words) + "\n")
    return "".join(lines)


def _check_values(values: Floats, shape: tuple[int, ...], path: str) -> None:
    if values.shape != shape:
        raise UnfitError(f"{path}: values of shape {values.shape}, expected {shape}")
    if np.isinf(values).any():
        raise UnfitError(f"{path}: an infinite value; a missing one is NaN")


def _check_column(word: str) -> str:
    if not word or any(sign in word for sign in "\t\n\r"):
        raise UnfitError(f"{word!r} does not fit in one column: it is empty, or contains a TAB or a line break")
    return word


def check_name(name: str) -> None:
    """Raises UnfitError: the name cannot be part of a file's name."""
    if not name or any(sign in name for sign in "/\\\t\n\r\0"):
        raise UnfitError(f"{name!r} can't be part of a file's name")
    if len(name.encode()) > LONGEST_NAME:
        raise UnfitError(f"{name[:40]}…: a name too long for a file")
