"""Whether a warehouse still holds what was written into it: every row is read, as tables and as the views show it."""

from collections.abc import Iterator
from dataclasses import dataclass

from queries import catalog
from warehouse import QuestionError, Warehouse
from warehouse.database.checksums import TABLES, changed_tables, check_catalogue, damaged, kept_checksums
from warehouse.progress import Progress


@dataclass(frozen=True)
class Changed:
    """Tables whose rows of an evaluation set are not those that were written, or not all that the views show."""

    testset: str
    lp: str
    tables: tuple[str, ...]


def changed_evalsets(
    warehouse: Warehouse, testset: str | None, lp: str | None, progress: Progress | None = None
) -> Iterator[Changed]:
    """Evaluation sets whose rows differ from what was kept of them when they were written.

    Raises SchemaError: the file is damaged where it is no evaluation set's own, or cannot be read.
    """
    try:
        yield from _changed(warehouse, testset, lp, progress)
    except QuestionError as error:  # the questions are our own: only what is stored can make them wrong
        raise damaged(warehouse, str(error).splitlines()[0]) from error


def _changed(warehouse: Warehouse, testset: str | None, lp: str | None, progress: Progress | None) -> Iterator[Changed]:
    kept = kept_checksums(warehouse)
    check_catalogue(warehouse, kept)
    rows = warehouse.rows(
        """
        SELECT e.evalset_id, t.name, e.lp
        FROM evalset AS e
        JOIN testset AS t ON t.testset_id = e.testset_id
        ORDER BY t.name, e.lp
        """
    )
    chosen = [(id, name, pair) for id, name, pair in rows if testset in (None, name) and lp in (None, pair)]
    found = warehouse.rows(catalog.questions()["rows_shown"].text, {"testset": testset, "lp": lp})
    shown = {(name, pair, table): n_rows for name, pair, table, n_rows in found}
    for number, (evalset_id, name, pair) in enumerate(chosen):
        if progress is not None:
            progress(f"{name} {pair}: reading every row", number, len(chosen))
        changed = changed_tables(warehouse, kept, evalset_id)
        for table in TABLES:
            checksum = kept.get((evalset_id, table))
            if table != "vector" and shown.get((name, pair, table), 0) != (checksum.n_rows if checksum else 0):
                changed.append(table)
        if changed:
            yield Changed(name, pair, tuple(table for table in TABLES if table in changed))
