"""A ranking of each domain by itself, or of each phenomenon of a challenge set."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Literal

import polars as pl

from metaeval.answer import Table
from metaeval.inputs import check_used
from metaeval.measures import Measure
from metaeval.notes import because, placed
from metaeval.options import Options
from metaeval.pooling import Pooling
from metaeval.ranking import Read, ranked, read, slices_of
from metaeval.signature import line, parts_of
from metaeval.significance.options import TestOptions
from queries.listing import names
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import option

Part = Literal["domain", "phenomenon"]
_FIELDS: Mapping[Part, str] = {"domain": "domains", "phenomenon": "phenomena"}  # of a slice


def read_domains(
    warehouse: Warehouse,
    asked: Slice,
    measures: Sequence[Measure],
    options: Options,
    testing: TestOptions | None = None,
    *,
    by: Part = "domain",
    strict: bool = False,
    fresh: bool = False,
) -> tuple[dict[str, Read], list[str]]:
    """What the ranking of each domain, or phenomenon, needs, and lines on those without an answer.

    asked: its patterns of domains, or phenomena, restrict them. Arguments else as of `metaeval.ranking.read`.
    Raises QuestionError: no segment has a domain; no domain has an answer, or with strict, one has none.
    """
    check_used(options, measures)
    slices, _ = slices_of(warehouse, asked)
    testsets, lps = [one.testset for one in slices], [one.lp for one in slices]
    field = _FIELDS[by]
    patterns: tuple[str, ...] = getattr(asked, field)
    known = names(warehouse, by, testsets, lps)
    chosen = [one for one in known if not patterns or any(fnmatchcase(one, pattern) for pattern in patterns)]
    if not chosen:
        raise QuestionError(f"no {by} matches {option(by)}" if known else f"{asked.testset} {asked.lp} has no {field}")
    found: dict[str, Read] = {}
    faults: dict[str, str] = {}
    for part in chosen:
        try:
            one = replace(asked, **{field: (escape(part),)})  # type: ignore[arg-type]
            found[part] = read(warehouse, one, measures, options, testing, strict=strict, fresh=fresh)
        except QuestionError as error:
            if strict:
                raise
            faults[because(f"without {by} {part}: ", error)] = error.text
    if not found:
        raise QuestionError("; ".join(faults if len(set(faults.values())) > 1 else set(faults.values())))
    return found, list(faults)


def ranked_domains(
    found: dict[str, Read],
    how: Pooling | None = None,
    *,
    by: Part = "domain",
    database: Path | None = None,
    verbose: bool = False,
    progress: Progress | None = None,
) -> Table:
    """The rankings of all domains, or phenomena, with a column of that name: rows as of `rank` in json, arguments
    as of `ranked`."""
    tables = {
        part: ranked(one, how, database=database, verbose=verbose, progress=progress) for part, one in found.items()
    }
    frames = [table.frame.with_columns(pl.lit(part).alias(by)) for part, table in tables.items()]
    frame = pl.concat(frames, how="diagonal")
    said: dict[str, list[str]] = {}
    for part, table in tables.items():
        for note in table.notes:
            said.setdefault(note, []).append(part)
    notes = [note if len(parts) == len(tables) else placed(", ".join(parts), note) for note, parts in said.items()]
    signature = "\n".join(_together([line for table in tables.values() for line in table.signature.split("\n")]))
    columns = [name for name in frame.columns if name != by]
    return Table(frame.select(*columns[:2], by, *columns[2:]), signature, tuple(notes))


def _together(signatures: Sequence[str]) -> list[str]:
    """One signature for those of each measure, test and evaluation set; what differs in them is joined by commas."""
    found: dict[tuple[str, ...], dict[str, dict[str, None]]] = {}
    for one in signatures:
        parts = parts_of(one)
        key = tuple(parts.get(name, "") for name in ("measure", "testset", "lp", "test"))
        for name, value in parts.items():
            found.setdefault(key, {}).setdefault(name, {})[value] = None
    return [line((name, ",".join(values)) for name, values in parts.items()) for parts in found.values()]
