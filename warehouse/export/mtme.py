"""Writes one evaluation set in the organisers' folder layout, from plain Python and numpy data.

All files are UTF-8 with LF; columns are separated by a TAB; there are no header lines. A value is written so
that reading it back gives the same double; a missing one is the word `None`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.export.exported import LONGEST_NAME, write_text
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


def write_evalset(
    folder: Path,
    lp: str,
    *,
    documents: Sequence[tuple[str, str]],
    sources: Sequence[str] | None = None,
    references: Mapping[str, Sequence[str]] | None = None,
    outputs: Mapping[str, Sequence[str]] | None = None,
    humans: Mapping[str, ScoreTable] | None = None,
    metrics: Mapping[str, ScoreTable] | None = None,
    ratings: Mapping[str, RatingTable] | None = None,
    predictions: Mapping[str, RatingTable] | None = None,
) -> list[Path]:
    """Write the evaluation set of `lp` below `folder` (the test set's folder); returns the files written.

    Files of the same name are replaced, others are left alone. Raises ValueError, before anything is written: see
    `evalset_files`, whose arguments these are.
    """
    given = (documents, sources, references, outputs, humans, metrics, ratings, predictions)
    return [write_text(folder / path, text) for path, text in evalset_files(lp, *given)]


def evalset_files(
    lp: str,
    documents: Sequence[tuple[str, str]],
    sources: Sequence[str] | None = None,
    references: Mapping[str, Sequence[str]] | None = None,
    outputs: Mapping[str, Sequence[str]] | None = None,
    humans: Mapping[str, ScoreTable] | None = None,
    metrics: Mapping[str, ScoreTable] | None = None,
    ratings: Mapping[str, RatingTable] | None = None,
    predictions: Mapping[str, RatingTable] | None = None,
) -> list[tuple[Path, str]]:
    """Paths below the test set's folder, each with its text.

    documents: (domain, document) of each segment, in segment order; a document's segments are neighbours.
    sources, references, outputs: one text per segment; references by name (`refA`), outputs by system.
    humans, ratings: by name (`mqm`). metrics, predictions: by full variant name (`BLEU-refA`, `Kiwi-src`).
    Raises ValueError: no segments; a table or a text of another length than the documents; an infinite value; a name
        that does not fit in one column; a document in two places or two domains; an unknown domain.
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
    for name, table in (humans or {}).items():
        files += _score_files(table, documents, Path("human-scores", f"{lp}.{name}"))
    rated = [(Path("human-scores", f"{lp}.{name}.seg.rating"), marked) for name, marked in (ratings or {}).items()]
    rated += [(Path("metric-scores", lp, f"{name}.seg.rating"), found) for name, found in (predictions or {}).items()]
    files += [(path, _rating_lines(table, n_segments, path)) for path, table in rated]
    for name, table in (metrics or {}).items():
        files += _score_files(table, documents, Path("metric-scores", lp, name))
    return files


def write_facts(folder: Path, facts: TestsetFacts) -> Path:
    """Write a test set's declarations (official metrics, standards, outliers) next to its scores."""
    lines = [f"name = {_toml(facts.name)}"]
    for key, value in (("year", facts.year), ("description", facts.description)):
        if value is not None:
            lines.append(f"{key} = {_toml(value)}")
    if facts.resubmitted != 1:
        lines.append(f"resubmitted = {_toml(facts.resubmitted)}")
    if facts.primary is not None:
        lines += ["", "[metrics]"]
        lines += [f"primary = {_toml(facts.primary)}", f"baseline = {_toml(facts.baseline)}"]
    for lp, evalset in sorted(facts.lps.items()):
        lines += ["", f"[lps.{_toml(lp)}]"]
        if evalset.standard_reference is not None:
            lines.append(f"standard_reference = {_toml(evalset.standard_reference)}")
        for level, name in sorted(evalset.standard_human.items()):
            lines.append(f"standard_human.{level} = {_toml(name)}")
        lines.append(f"outlier_systems = {_toml(evalset.outlier_systems)}")
        lines.append(f"ranks_human_references = {_toml(evalset.ranks_human_references)}")
        lines.append(f"extra_primary = {_toml(evalset.extra_primary)}")
    return write_text(folder / FACTS_FILE, "\n".join([*lines, ""]))


def _toml(value: str | bool | int | frozenset[str]) -> str:
    """A value as TOML, which writes texts, numbers and lists of texts as JSON does; sets are sorted."""
    return json.dumps(sorted(value) if isinstance(value, frozenset) else value)


def _document_lines(documents: Sequence[tuple[str, str]]) -> str:
    if not documents:
        raise ValueError("documents: no segments to write")
    begun: set[str] = set()
    before: tuple[str, str] | None = None
    for line, here in enumerate(documents, 1):
        if here == before:
            continue
        domain, document = here
        if document in begun:
            raise ValueError(f"documents: document {document!r} begins again at line {line}, in domain {domain!r}")
        _check_column(domain)
        _check_column(document)
        begun.add(document)
        before = here
    return "".join(f"{domain}\t{document}\n" for domain, document in documents)


def _text_file(word: str, stem: str, texts: Sequence[str], n_segments: int) -> tuple[Path, str]:
    """Lines of text, or of JSON under a word where a text has line breaks in it."""
    if len(texts) != n_segments:
        raise ValueError(f"{stem}{PLAIN}: {counted(len(texts), 'text')}, expected {n_segments}")
    is_plain = not any("\n" in text or "\r" in text for text in texts)
    lines = texts if is_plain else [json.dumps({word: text}, ensure_ascii=False) for text in texts]
    return Path(f"{stem}{PLAIN if is_plain else OF_JSON}"), "\n".join(lines) + "\n"


def _score_files(table: ScoreTable, documents: Sequence[tuple[str, str]], stem: Path) -> Iterator[tuple[Path, str]]:
    """The files of one scorer; `stem` is their path up to the level."""
    n_documents = len(dict.fromkeys(documents))
    n_systems = len(table.systems)
    levels = (("seg", table.seg, len(documents)), ("doc", table.doc, n_documents))
    for system in table.systems:
        _check_column(system)
    for level, values, n_columns in levels:
        if values is not None:
            path = stem.with_name(f"{stem.name}.{level}.score")
            _check_values(values, (n_systems, n_columns), path)
            yield path, "".join(map(_system_block, table.systems, values))
    if table.sys is not None:
        path = stem.with_name(f"{stem.name}.sys.score")
        _check_values(table.sys, (n_systems,), path)
        yield path, _lines(table.systems, table.sys)
    if table.domain:
        path = stem.with_name(f"{stem.name}.domain.score")
        yield path, _domain_lines(table, {domain for domain, _ in documents}, path)


def _domain_lines(table: ScoreTable, domains: set[str], path: Path) -> str:
    lines = []
    for domain, values in table.domain.items():
        if domain not in domains:
            raise ValueError(f"{path.as_posix()}: unknown domain {domain!r}, expected one of {sorted(domains)}")
        _check_values(values, (len(table.systems),), path)
        lines.append(_lines((f"{domain}\t{system}" for system in table.systems), values))
    return "".join(lines)


def _lines(keys: Iterable[str], values: Floats) -> str:
    return "".join(f"{key}\t{value}\n" for key, value in zip(keys, _words(values), strict=True))


def _system_block(system: str, values: Floats) -> str:
    """The lines of one system, one per segment or document."""
    if not len(values):
        return ""
    return f"{system}\t" + f"\n{system}\t".join(_words(values)) + "\n"


def _words(values: Floats) -> list[str]:
    """Each value as the shortest text that reads back as the same double; NaN as `None`.

    >>> _words(np.array([0.1, -0.0, np.nan]))
    ['0.1', '-0.0', 'None']
    """
    words = [repr(value) for value in np.asarray(values, dtype=np.float64).tolist()]
    for index in np.flatnonzero(np.isnan(values)).tolist():
        words[index] = MISSING
    return words


def _rating_lines(table: RatingTable, n_segments: int, path: Path) -> str:
    lines = []
    for system, errors in table.errors.items():
        _check_column(system)
        raters = table.raters.get(system, [None] * n_segments)
        if len(errors) != n_segments or len(raters) != n_segments:
            raise ValueError(
                f"{path.as_posix()}: system {system!r} has {counted(len(errors), 'rating')}, expected {n_segments}"
            )
        for found, rater in zip(errors, raters, strict=True):
            words = [system, _rating(found)]
            if table.raters:
                words.append(_check_column(rater) if rater is not None else MISSING)
            lines.append("\t".join(words) + "\n")
    return "".join(lines)


def _rating(errors: Errors | None) -> str:
    """The annotation of one segment as JSON.

    >>> _rating([]), _rating(None)
    ('{"errors": []}', 'None')
    """
    if errors is None:
        return MISSING
    return json.dumps({"errors": list(errors)}, ensure_ascii=False, allow_nan=False)


def _check_values(values: Floats, shape: tuple[int, ...], path: Path) -> None:
    if values.shape != shape:
        raise ValueError(f"{path.as_posix()}: values of shape {values.shape}, expected {shape}")
    if np.isinf(values).any():
        raise ValueError(f"{path.as_posix()}: an infinite value; a missing one is NaN")


def _check_column(word: str) -> str:
    if not word or any(sign in word for sign in "\t\n\r"):
        raise ValueError(f"{word!r} does not fit in one column: it is empty, or contains a TAB or a line break")
    return word


def check_name(name: str) -> None:
    """Raises ValueError: the name cannot be part of a file's name."""
    if not name or any(sign in name for sign in "/\\\t\n\r\0"):
        raise ValueError(f"{name!r} can't be part of a file's name")
    if len(name.encode()) > LONGEST_NAME:
        raise ValueError(f"{name[:40]}…: a name too long for a file")
