"""A ranking of each domain by itself."""

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

import polars as pl

from metaeval.inputs import check_used
from metaeval.measures import Measure
from metaeval.notes import because
from metaeval.options import Options
from metaeval.pooling import Pooling
from metaeval.ranking import Read, ranked, read, slices_of
from metaeval.significance.options import TestOptions
from metaeval.table import Table
from queries.listing import names
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.progress import Progress
from warehouse.wording import option


def read_domains(
    warehouse: Warehouse,
    asked: Slice,
    measures: Sequence[Measure],
    options: Options,
    testing: TestOptions | None = None,
    *,
    strict: bool = False,
    fresh: bool = False,
) -> tuple[dict[str, Read], list[str]]:
    """What the ranking of each domain needs, and lines on domains without an answer.

    asked: its patterns of domains restrict them. Arguments else as of `metaeval.ranking.read`.
    Raises QuestionError: no segment has a domain; no domain has an answer, or with strict, one has none.
    """
    check_used(options, measures)
    slices, _ = slices_of(warehouse, asked)
    testsets, lps = [one.testset for one in slices], [one.lp for one in slices]
    known = names(warehouse, "domain", testsets, lps)
    chosen = [one for one in known if not asked.domains or any(fnmatchcase(one, by) for by in asked.domains)]
    if not chosen:
        raise QuestionError(
            f"no domain matches {option('domain')}" if known else f"{asked.testset} {asked.lp} has no domains"
        )
    found: dict[str, Read] = {}
    faults: dict[str, str] = {}
    for domain in chosen:
        try:
            one = replace(asked, domains=(escape(domain),))
            found[domain] = read(warehouse, one, measures, options, testing, strict=strict, fresh=fresh)
        except QuestionError as error:
            if strict:
                raise
            faults[because(f"without domain {domain}: ", error)] = error.text
    if not found:
        raise QuestionError("; ".join(faults if len(set(faults.values())) > 1 else set(faults.values())))
    return found, list(faults)


def ranked_domains(
    found: dict[str, Read],
    how: Pooling | None = None,
    *,
    database: Path | None = None,
    verbose: bool = False,
    progress: Progress | None = None,
) -> Table:
    """The rankings of all domains: rows as of `rank` in json with the column domain; arguments as of `ranked`."""
    tables = {
        domain: ranked(one, how, database=database, verbose=verbose, progress=progress) for domain, one in found.items()
    }
    frames = [table.frame.with_columns(domain=pl.lit(domain)) for domain, table in tables.items()]
    frame = pl.concat(frames, how="diagonal")
    notes = [f"{domain}: {note}" for domain, table in tables.items() for note in table.notes]
    signature = "\n".join(table.signature for table in tables.values())
    columns = [name for name in frame.columns if name != "domain"]
    return Table(frame.select(*columns[:2], "domain", *columns[2:]), signature, tuple(notes))
