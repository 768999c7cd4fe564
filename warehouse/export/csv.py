"""The public views as CSV, or as Parquet of a whole warehouse; and error spans in the format of WMT25's task 2."""

from pathlib import Path

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.export.exported import LONGEST_NAME, PARQUET, EvalsetKey, copy, copy_each, quoted, replacing_file
from warehouse.names import EXPORTED_SYSTEMS
from warehouse.wording import are, counted

_VIEWS = {
    "scores": "metric, base_metric, reference, system, segment, domain, document, value",
    "human_scores": "human, system, segment, domain, document, value",
    "system_scores": "kind, scorer, system, submitted, mean, n_segments, n_missing",
    "aggregate_scores": "kind, scorer, system, level, unit, value",
    "metrics": "metric, base_metric, reference, is_reference_free, family, status, is_own, levels, n_systems, n_scores",
    "systems": EXPORTED_SYSTEMS,
    "segments": "segment, position, domain, document, index_in_document, source_text",
    "texts": "kind, name, segment, text",
    "judgements": "human, system, segment, rater, value, n, time, status, n_errors",
    "preferences": "kind, scorer, segment, ranking, system_a, system_b, rater, answer, is_same_output",
    "spans": "kind, scorer, system, segment, rater, side, span_start, span_end, severity, severity_class, category, "
    "weight, status",
}
_BY_FIRST = {
    "aggregate_scores": "kind, scorer, level, ",
    "preferences": "kind, scorer, ranking, ",
    "spans": "kind, scorer, system, segment, rater, span_start, ",
}
"""Columns by which rows are sorted before they are by all, from left to right."""


def export_csv(warehouse: Warehouse, key: EvalsetKey, folder: Path, _: list[str]) -> dict[Path, int]:
    """Write TESTSET/LP/VIEW.csv; a view without rows has no file. Numbers have full precision.

    Raises OSError: the folder can't be written.
    """
    place = folder / quoted(key.testset) / quoted(key.lp)
    asked = {"testset": key.testset, "lp": key.lp}
    queries = {
        place / f"{view}.csv": f"SELECT {columns} FROM {view} WHERE testset = $testset AND lp = $lp "
        f"ORDER BY {_BY_FIRST.get(view, '')}{columns}"
        for view, columns in _VIEWS.items()
    }
    return copy_each(warehouse, queries, "FORMAT csv, HEADER", asked)


_OF_WAREHOUSE = (
    *("testsets", "evalsets", "metrics", "humans", "systems", "segments", "scores", "human_scores", "system_scores"),
    *("aggregate_scores", "judgements", "preferences", "spans", "known_issues", "texts"),
)


def export_views(database: Path, folder: Path) -> dict[str, int]:
    """Write VIEW.parquet for each view that has rows; returns the number of rows by view.

    Raises SchemaError: see `Warehouse.open`. OSError: the folder can't be written.
    """
    queries = {folder / f"{view}.parquet": f"SELECT * FROM {view}" for view in _OF_WAREHOUSE}
    with Warehouse.open(database, writes_below=folder) as warehouse:
        return {path.stem: n_rows for path, n_rows in copy_each(warehouse, queries, PARQUET).items()}


_NO_PLACE = (
    ("error in the source", "errors in the source"),
    ("error whose severity is not one word", "errors whose severity is not one word"),
    ("judgement that is not valid", "judgements that are not valid"),
    ("category", "categories"),
)


def export_spans(warehouse: Warehouse, key: EvalsetKey, folder: Path, notes: list[str]) -> dict[Path, int]:
    """Write TESTSET/LP/SCORER.tsv: one row per annotation, with a column `rater` if annotators are known.

    Segments are numbered within the test set. Notes count data that the format cannot hold: errors in the source,
    severities of several words or none, categories, judgements that are not valid.
    Raises OSError: the folder can't be written.
    """
    asked = {"testset": key.testset, "lp": key.lp}
    source, target = key.lp.split("-", 1) if "-" in key.lp else (key.lp, "")
    counts = {}
    for scorer, has_raters, *left in warehouse.rows(statement(__package__, "span_files"), asked):
        path = folder / quoted(key.testset) / quoted(key.lp) / f"{quoted(scorer)[:LONGEST_NAME]}.tsv"
        query = statement(__package__, "span_rows").replace("/* rater */", "a.rater," if has_raters else "")
        with replacing_file(path) as fresh:
            more = {"scorer": scorer, "source": source, "target": target}
            counts[path] = copy(warehouse, query, fresh, "FORMAT csv, DELIMITER '\t', HEADER", asked | more)
        notes += [
            f"{scorer}: {counted(n, *what)} {are(n)} excluded" for n, what in zip(left, _NO_PLACE, strict=True) if n
        ]
    if not counts:
        notes.append("there are no error spans")
    return counts
