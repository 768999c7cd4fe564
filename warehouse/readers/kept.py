"""The rows of a file by evaluation set, in little room, until each evaluation set is laid out."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.claims import EvalsetKey
from warehouse.readers.compact import compact, joined
from warehouse.readers.records import Records, columns
from warehouse.readers.text.faults import of_each_kind

_FEW = 1000  # rows that take no room worth the time
_FRAMES = ("scores", "judgements", "segments")


@dataclass(frozen=True)
class Kept:
    """What a file brings to each evaluation set; frames of many rows are compact. faults, notes: of the whole file."""

    frames: Mapping[str, Mapping[EvalsetKey, pl.DataFrame]]
    ratings: pl.DataFrame
    scores_from_judgements: bool
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]

    @property
    def evalsets(self) -> tuple[EvalsetKey, ...]:
        """The evaluation sets that rows name, sorted."""
        return tuple(sorted({key for name in _FRAMES for key in self.frames[name] if None not in key}))

    def of(self, evalset: EvalsetKey) -> Records:
        """The rows of one evaluation set, in compact frames."""
        found = {
            name: self.frames[name][evalset] if evalset in self.frames[name] else pl.DataFrame(schema=columns(name))
            for name in _FRAMES
        }
        ratings = self.ratings
        if not ratings.is_empty():
            chosen = found["judgements"].select(pl.col("judgement").cast(pl.Int64))
            ratings = ratings.join(chosen, on="judgement", how="semi", maintain_order="left")
        return Records(
            scores=found["scores"],
            judgements=found["judgements"],
            segments=found["segments"],
            ratings=ratings,
            scores_from_judgements=self.scores_from_judgements,
            notes=list(self.notes),
        )


def kept(pieces: Iterable[Records]) -> Kept:
    """The rows of a file that comes in some pieces, one behind the other; only the first may have marked errors.

    pieces: completed records (see `Records.normal`), at least one; each is let go before the next is asked for.
    """
    frames: dict[str, dict[EvalsetKey, list[pl.DataFrame]]] = {name: defaultdict(list) for name in _FRAMES}
    ratings, from_judgements = None, False
    faults: list[list[Fault]] = []
    notes: list[str] = []
    for piece in pieces:
        for name in _FRAMES:
            for (testset, lp), rows in getattr(piece, name).partition_by("testset", "lp", as_dict=True).items():
                frames[name][testset, lp].append(rows if rows.height < _FEW else compact(rows))
        ratings = piece.ratings if ratings is None else ratings
        from_judgements |= piece.scores_from_judgements
        faults.append(piece.faults)
        notes += piece.notes
    assert ratings is not None
    return Kept(
        {name: {key: _one(rows) for key, rows in found.items()} for name, found in frames.items()},
        ratings,
        from_judgements,
        tuple(faults[0] if len(faults) == 1 else of_each_kind(chain.from_iterable(faults))),
        tuple(notes),
    )


def _one(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return frames[0] if len(frames) == 1 else joined([compact(frame) for frame in frames])
