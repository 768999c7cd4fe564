"""Large tables of scores, read in pieces: the rows lie in a folder, and what is known of all of them in memory."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.names import Numbering
from warehouse.readers.long_table import where_scored
from warehouse.readers.records import Records, numbering_faults, places_of
from warehouse.readers.text.tables import of_each_kind

_ORDER = ("testset", "lp", "scorer", "system")  # of the rows of a piece, so that one scorer's are found quickly
_GROUP = 1 << 16  # rows whose least and greatest names are known


def gathered(pieces: Iterable[Records], path: Path, numbering: Numbering | None, folder: Path) -> Records:
    """The completed records of a file whose pieces have scores only; the folder keeps the scores.

    numbering: as for `normal`.
    """
    whole = Records().normal(path)
    faults: list[Fault] = []
    notes: dict[str, list[str]] = {}
    n_pieces = 0
    for n_pieces, piece in enumerate(pieces, start=1):
        read = piece.normal(path, numbering, is_piece=True)
        assert read.scores is not None
        first, last = read.scores.select(first=pl.col("line").min(), last=pl.col("line").max()).row(0)
        faults += read.faults
        for note in read.notes:
            notes.setdefault(note, []).append(f"lines {first} to {last}: {note}")
        read.scores.sort(_ORDER).write_parquet(
            folder / f"{n_pieces}.parquet", compression="lz4", row_group_size=_GROUP, statistics=True
        )
        whole = replace(whole, labels=_together(whole.labels, read.labels), places=_together(whole.places, read.places))
    if n_pieces == 0:
        return whole
    said = [line for note, lines in notes.items() for line in ([note] if len(lines) == n_pieces else lines)]
    on_disk = pl.scan_parquet(folder / "*.parquet")
    read = _where_scored(replace(whole, scores=None, on_disk=on_disk, notes=said))
    assert read.places is not None
    return replace(read, faults=of_each_kind([*faults, *numbering_faults(read.places, path, numbering)]))


def _together(known: pl.DataFrame | None, more: pl.DataFrame | None) -> pl.DataFrame:
    """Labels or places of the pieces so far and of the next one."""
    assert known is not None
    assert more is not None
    sums, least = {"n", "n_values"}.intersection(more.columns), {"line", "least"}.intersection(more.columns)
    keys = [name for name in more.columns if name not in sums | least]
    rows = pl.concat([known, more]).group_by(keys, maintain_order=True)
    return rows.agg(pl.col(*least).min(), *(pl.col(name).sum() for name in sums)).select(more.columns)


def _where_scored(records: Records) -> Records:
    """The records without scorers in evaluation sets where they have no score, with notes on them."""
    assert records.labels is not None
    assert records.on_disk is not None
    has_value = pl.when(pl.col("n_values") > 0).then(1.0)
    labels, notes = where_scored(records.labels.with_columns(value=has_value))
    if not notes:
        return records
    keys = ["testset", "lp", "level", "kind", "scorer", "reference"]
    rows = records.on_disk.join(labels.lazy().select(keys).unique(), on=keys, how="semi", nulls_equal=True)
    places = places_of(pl.DataFrame(schema=rows.collect_schema()))
    for some in rows.collect_batches():
        places = _together(places, places_of(some))
    return replace(
        records, labels=labels.drop("value"), places=places.sort("line"), on_disk=rows, notes=[*records.notes, *notes]
    )
