"""Error spans as WMT25's task 2 writes them, one file a metric or human score."""

from pathlib import Path

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.export.exported import EvalsetKey, Exported, copy, quoted
from warehouse.export.files import LONGEST_NAME, beside
from warehouse.wording import counted

_NO_PLACE = (
    ("error in the source", "errors in the source"),
    ("error whose severity is not one word", "errors whose severity is not one word"),
    ("judgement that is not valid", "judgements that are not valid"),
    ("category", "categories"),
)


def export_spans(warehouse: Warehouse, key: EvalsetKey, folder: Path) -> Exported:
    """Write TESTSET/LP/SCORER.tsv: a row for each annotation, with a column `rater` where annotators are known.

    Segments are numbered within the test set. Notes count what the format has no place for: errors in the source,
    severities of several words or none, categories, judgements that are not valid.
    Raises OSError: the folder can't be written.
    """
    asked = {"testset": key.testset, "lp": key.lp}
    n_files = n_rows = n_bytes = 0
    notes = []
    source, target = key.lp.split("-", 1) if "-" in key.lp else (key.lp, "")
    for scorer, has_raters, *left in warehouse.rows(statement(__package__, "span_files"), asked):
        path = folder / quoted(key.testset) / quoted(key.lp) / f"{quoted(scorer)[:LONGEST_NAME]}.tsv"
        query = statement(__package__, "span_rows").replace("/* rater */", "a.rater," if has_raters else "")
        with beside(path) as fresh:
            more = {"scorer": scorer, "source": source, "target": target}
            n_rows += copy(warehouse, query, fresh, "FORMAT csv, DELIMITER '\t', HEADER", asked | more)
        n_files, n_bytes = n_files + 1, n_bytes + path.stat().st_size
        notes += [f"{scorer}: {counted(n, *what)} left out" for n, what in zip(left, _NO_PLACE, strict=True) if n]
    if not n_files:
        notes.append("no error spans")
    return Exported(key.testset, key.lp, n_files, n_rows, n_bytes, tuple(notes))
