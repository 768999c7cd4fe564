"""Export of scores, spans and texts: Parquet (with import), CSV, the organisers' layout, other tables and lines."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from warehouse.database.connection import Warehouse
from warehouse.errors import QuestionError, SourceError, unknown, unknown_evalset
from warehouse.export.csv import export_csv
from warehouse.export.exported import EvalsetKey, ExportedEvalset, is_unfinished, unfinished
from warehouse.export.layout import export_layout, export_spans
from warehouse.export.parquet import export_parquet, is_export
from warehouse.export.reimport import import_parquet
from warehouse.export.texts import export_items, export_texts
from warehouse.progress import Progress

__all__ = ["FORMATS", "ExportedEvalset", "export", "import_parquet", "is_export", "is_unfinished"]

Write = Callable[[Warehouse, Sequence[EvalsetKey], Path, Progress | None], list[ExportedEvalset]]


def _one_by_one(write: Callable[[Warehouse, EvalsetKey, Path], ExportedEvalset]) -> Write:
    def write_all(
        warehouse: Warehouse, keys: Sequence[EvalsetKey], folder: Path, progress: Progress | None
    ) -> list[ExportedEvalset]:
        done = []
        for number, key in enumerate(keys):
            if progress is not None:
                progress(f"{key.testset} {key.lp}: writing", number, len(keys))
            done.append(write(warehouse, key, folder))
        return done

    return write_all


FORMATS: Mapping[str, Write] = {
    "parquet": export_parquet,
    "csv": _one_by_one(export_csv),
    "mtme": _one_by_one(export_layout),
    "subset2evaluate": _one_by_one(export_items),
    "texts": _one_by_one(export_texts),
    "spans": _one_by_one(export_spans),
}
"""What writes evaluation sets below a folder, by name of the format."""


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

    form: one of FORMATS. Notes list data that a format cannot represent.
    Raises QuestionError: unknown format, test set or language pair; nothing that the format can represent.
    SourceError: the folder is a file.
    OSError: it can't be written.
    """
    if form not in FORMATS:
        raise unknown("format", form, FORMATS)
    if folder.exists() and not folder.is_dir():
        raise SourceError(f"{folder}: a file, expected a folder")
    with Warehouse.open(database, writes_below=folder) as warehouse:
        chosen = _chosen(warehouse, testset, lp)
        with unfinished(folder, form):
            done = FORMATS[form](warehouse, chosen, folder, progress)
            if not any(item.n_files for item in done):
                raise _nothing(done)
    return done


def _nothing(done: Sequence[ExportedEvalset]) -> QuestionError:
    """The error if no evaluation set has a file, with the reasons of the first."""
    first = done[0]
    more = f"; nor for {len(done) - 1} more" if len(done) > 1 else ""
    return QuestionError(f"nothing was written for {first.testset} {first.lp}: {'; '.join(first.notes)}{more}")


def _chosen(warehouse: Warehouse, testset: str | None, lp: str | None) -> list[EvalsetKey]:
    rows = warehouse.rows(
        """
        SELECT e.evalset_id, t.name, e.lp
        FROM evalset AS e
        JOIN testset AS t ON t.testset_id = e.testset_id
        ORDER BY t.name, e.lp
        """
    )
    known = [EvalsetKey(*row) for row in rows]
    if not known:
        raise QuestionError(f"{warehouse.path}: an empty warehouse, nothing to export")
    if (error := unknown_evalset(testset, lp, [(key.testset, key.lp) for key in known])) is not None:
        raise error
    return [key for key in known if testset in (None, key.testset) and lp in (None, key.lp)]
