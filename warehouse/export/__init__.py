"""Export of scores, spans and texts: Parquet (with import), CSV, the organisers' layout, other tables and lines."""

from collections.abc import Callable, Mapping
from pathlib import Path

from warehouse.database.connection import Warehouse
from warehouse.errors import QuestionError, SourceError, unknown, unknown_evalset
from warehouse.export.csv import export_csv, export_spans
from warehouse.export.exported import EvalsetKey, ExportedEvalset, UnfitError, unfinished
from warehouse.export.layout import export_layout
from warehouse.export.opening import import_parquet
from warehouse.export.parquet import export_parquet, is_export
from warehouse.export.texts import export_items, export_texts
from warehouse.progress import Progress

__all__ = ["ExportedEvalset", "export", "import_parquet", "is_export"]

_ONE_BY_ONE: Mapping[str, Callable[[Warehouse, EvalsetKey, Path, list[str]], Mapping[Path, int]]] = {
    "csv": export_csv,
    "mtme": export_layout,
    "subset2evaluate": export_items,
    "texts": export_texts,
    "spans": export_spans,
}
"""What writes one evaluation set below a folder and notes what does not fit; the rows of each file."""


def export(
    database: Path,
    folder: Path,
    form: str = "parquet",
    testset: str | None = None,
    lp: str | None = None,
    *,
    progress: Progress | None = None,
) -> list[ExportedEvalset]:
    """Write all evaluation sets, those of a test set, or one, below `folder`, replacing earlier exports of them.

    Each file is moved into place when complete, and `load` refuses the folder until all files are there.

    form: the name of a format. Notes list data that a format cannot represent.
    Raises QuestionError: unknown format, test set or language pair; nothing that the format can represent.
    SourceError: the folder is a file.
    OSError: it can't be written.
    """
    if form not in ("parquet", *_ONE_BY_ONE):
        raise unknown("format", form, ["parquet", *_ONE_BY_ONE])
    if folder.exists() and not folder.is_dir():
        raise SourceError(f"{folder}: a file, expected a folder")
    with Warehouse.open(database, writes_below=folder) as warehouse:
        chosen = _chosen(warehouse, testset, lp)
        with unfinished(folder, form):
            done = []
            if form == "parquet":
                done = export_parquet(warehouse, chosen, folder, progress)
            for number, key in enumerate(chosen if form in _ONE_BY_ONE else ()):
                if progress is not None:
                    progress(f"{key.testset} {key.lp}: writing", number, len(chosen))
                done.append(_exported(warehouse, key, folder, form))
            if not any(item.n_files for item in done):
                first, *others = done
                more = f"; nor for {len(others)} more" if others else ""
                why = "; ".join(first.notes).removeprefix(_NOTHING)
                raise QuestionError(f"nothing was written for {first.testset} {first.lp}: {why}{more}")
    return done


_NOTHING = "nothing is written, because "


def _exported(warehouse: Warehouse, key: EvalsetKey, folder: Path, form: str) -> ExportedEvalset:
    notes: list[str] = []
    files: Mapping[Path, int] = {}
    try:
        files = _ONE_BY_ONE[form](warehouse, key, folder, notes)
    except UnfitError as error:
        notes.append(f"{_NOTHING}{error}")
    n_bytes = sum(path.stat().st_size for path in files)
    return ExportedEvalset(key.testset, key.lp, len(files), sum(files.values()), n_bytes, tuple(notes))


def _chosen(warehouse: Warehouse, testset: str | None, lp: str | None) -> list[EvalsetKey]:
    query = "SELECT evalset_id, name, lp FROM evalset JOIN testset USING (testset_id) ORDER BY name, lp"
    known = [EvalsetKey(*row) for row in warehouse.rows(query)]
    if not known:
        raise QuestionError(f"{warehouse.path}: an empty warehouse, nothing to export")
    if (error := unknown_evalset(testset, lp, [(key.testset, key.lp) for key in known])) is not None:
        raise error
    return [key for key in known if testset in (None, key.testset) and lp in (None, key.lp)]
