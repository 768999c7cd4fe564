"""CSV for spreadsheets and scripts: one folder per language pair, one file per view, names instead of identifiers."""

from pathlib import Path

from warehouse.database.connection import Warehouse
from warehouse.export.exported import EvalsetKey, ExportedEvalset, copy, quoted, replacing_file
from warehouse.names import EXPORTED_SYSTEMS

_VIEWS = {
    "scores": ("metric, base_metric, reference, system, segment, domain, document, value", "metric, system, segment"),
    "human_scores": ("human, system, segment, domain, document, value", "human, system, segment"),
    "system_scores": ("kind, scorer, system, submitted, mean, n_segments, n_missing", "kind, scorer, system"),
    "aggregate_scores": ("kind, scorer, system, level, unit, value", "kind, scorer, level, system, unit"),
    "metrics": (
        "metric, base_metric, reference, is_reference_free, family, status, is_own, levels, n_systems, n_scores",
        "metric",
    ),
    "systems": (EXPORTED_SYSTEMS, "system"),
    "segments": ("segment, position, domain, document, index_in_document, source_text", "segment"),
    "texts": ("kind, name, segment, text", "kind, name, segment"),
    "judgements": ("human, system, segment, rater, value, n, time, status, n_errors", "human, system, segment, rater"),
    "preferences": (
        "kind, scorer, segment, ranking, system_a, system_b, rater, answer, is_same_output",
        "kind, scorer, ranking, segment, system_a, system_b, rater, answer",
    ),
    "spans": (
        "kind, scorer, system, segment, rater, side, span_start, span_end, severity, severity_class, category, weight, "
        "status",
        "kind, scorer, system, segment, rater, span_start",
    ),
}


def export_csv(warehouse: Warehouse, key: EvalsetKey, folder: Path) -> ExportedEvalset:
    """Write TESTSET/LP/VIEW.csv; a view without rows has no file. Numbers have full precision.

    Raises OSError: the folder can't be written.
    """
    place = folder / quoted(key.testset) / quoted(key.lp)
    asked = {"testset": key.testset, "lp": key.lp}
    n_files = n_rows = n_bytes = 0
    for view, (columns, order) in _VIEWS.items():
        path = place / f"{view}.csv"
        query = f"SELECT {columns} FROM {view} WHERE testset = $testset AND lp = $lp ORDER BY {order}"
        with replacing_file(path) as fresh:
            n = copy(warehouse, query, fresh, "FORMAT csv, HEADER", asked)
        if not n:
            path.unlink()
            continue
        n_files, n_rows, n_bytes = n_files + 1, n_rows + n, n_bytes + path.stat().st_size
    return ExportedEvalset(key.testset, key.lp, n_files, n_rows, n_bytes)
