"""Further faults of damaged files, in their sound rows: all are reported at once; mending one shows no other."""

from collections.abc import Mapping, Sequence

import polars as pl

from warehouse.database.stage import Stage
from warehouse.readers.contents import Content
from warehouse.readers.records import MOST_SEGMENTS, TUTORIAL
from warehouse.staging.naming import check_known, spelled, spellings_in
from warehouse.staging.placing import declaring_segments, known_segments, report_lost


def report_further_faults(contents: Sequence[Content], stage: Stage, aliases: Mapping[str, str]) -> None:
    """Faults of systems and segments that the evaluation set does not have, in files that have other faults.

    Comes after the sound files are laid out; nothing of the damaged ones goes to the stage but their faults.
    """
    damaged = [content for content in contents if content.faults and content.records is not None]
    if not damaged:
        return
    scores, judgements = (_rows(damaged, name) for name in ("scores", "judgements"))
    names = spelled([set(scores["system"])], set(scores["system"]), stage, aliases)
    check_known(damaged, spellings_in(scores), {spelling: system.system for spelling, system in names.items()}, stage)
    _report_segments(damaged, scores, judgements, stage)


def _rows(contents: Sequence[Content], name: str) -> pl.DataFrame:
    tables: list[tuple[int, pl.DataFrame]] = [(one.file_no, getattr(one.records, name)) for one in contents]
    return pl.concat([table.with_columns(file_no=pl.lit(file_no, dtype=pl.Int64)) for file_no, table in tables])


def _report_segments(contents: Sequence[Content], scores: pl.DataFrame, judgements: pl.DataFrame, stage: Stage) -> None:
    """Rows of numbered segments that there are not, where files may name no new ones."""
    known = known_segments(stage)
    is_closed = stage.evalset.is_declared or bool(declaring_segments(stage))
    closed = [
        content.file_no
        for content in contents
        if (is_closed or content.claim.is_strict) and not content.claim.is_positional
    ]
    if not known or not closed:
        return
    place = ("file_no", "line", "segment", "document", "index")
    of_segments = scores.filter(pl.col("level") == "seg").select(place)
    judged = judgements.filter((pl.col("status") != TUTORIAL).fill_null(True)).select(place)
    is_number = pl.col("segment").is_between(1, MOST_SEGMENTS)  # any other is a fault of its row already
    rows = pl.concat([of_segments, judged]).filter(pl.col("file_no").is_in(closed) & is_number)
    report_lost(contents, rows.filter(~pl.col("segment").is_in(known)), stage)
