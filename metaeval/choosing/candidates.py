"""The segments that can be chosen for annotation, with what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from metaeval.inputs import Inputs, where
from metaeval.kernels.arrays.checks import Bools, Floats, Ints
from metaeval.measures.judged import documents_of
from queries.blocks import Block
from queries.catalog import ask
from queries.selection import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT
from warehouse.wording import counted, option

Among = Literal["annotated", "all"]
Unit = Literal["segment", "document"]
Budget = Literal["segments", "words", "minutes"]
UNSPACED = ("bo", "ja", "km", "lo", "my", "th", "zh")
"""Languages written without spaces, of which characters count as words."""


@dataclass(frozen=True)
class Candidates:
    """Segments to choose from; arrays are (S,), in the order of the test set.

    block: of the segments' evaluation set, with all its segments; kept: which of them are candidates. texts: of
    candidates, by kind and name, then segment. notes: what a reader should know.
    """

    block: Block
    kept: Bools
    texts: Mapping[tuple[str, str | None], Mapping[int, str]]
    source_language: str
    notes: tuple[str, ...]

    @cached_property
    def segments(self) -> Ints:
        """Numbers of the candidates."""
        return np.asarray(self.block.segments[self.kept])

    @cached_property
    def human(self) -> Floats:
        """(N, S), NaN where people judged nothing."""
        return self.block.human[:, self.kept]

    @property
    def documents(self) -> list[str | None]:
        """Document of each."""
        return [self.block.selection.documents[place] for place in np.flatnonzero(self.kept)]

    def units(self, unit: Unit) -> Ints:
        """What is chosen whole, numbered.

        Raises QuestionError: documents, and a segment is of none.
        """
        if unit == "segment":
            return np.arange(len(self.segments))
        return documents_of(self.block.selection, self.kept)

    def domains(self) -> Ints:
        """Number of each one's domain.

        Raises QuestionError: one has none.
        """
        names = [self.block.selection.domains[place] for place in np.flatnonzero(self.kept)]
        if None in names:
            reason = f"{IT} has segments without a domain: there is no balance"
            raise QuestionError(reason, where=where(self.block.selection))
        return np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.int64)

    def words(self) -> Floats:
        """Words of each source, at least 1: parts between spaces; characters in languages without spaces.

        Raises QuestionError: a source is not loaded.
        """
        sources = self.texts.get(("source", None), {})
        missing = [segment for segment in self.segments.tolist() if segment not in sources]
        if missing:
            reason = f"{IT} has {counted(len(missing), 'segment')} without a source text: there are no words to count"
            raise QuestionError(reason, where=where(self.block.selection))
        texts = [sources[segment] for segment in self.segments.tolist()]
        n = [len(text if self.source_language in UNSPACED else text.split()) for text in texts]
        return np.maximum(1.0, np.array(n, dtype=np.float64))

    def costs(self, budget: Budget, words_per_minute: float | None = None) -> Floats:
        """What annotating each one takes: 1 segment, its words, or the minutes for the outputs of all systems.

        Raises QuestionError: see `words`; minutes without a pace.
        """
        if budget == "segments":
            return np.ones(len(self.segments))
        if budget == "words":
            return self.words()
        if words_per_minute is None:
            pace = option("words_per_minute")
            raise QuestionError(f"{option('minutes')} needs {pace}: how many words of the source an annotator judges")
        return self.words() * len(self.block.systems) / words_per_minute


def candidates(warehouse: Warehouse, asked: Slice, among: Among | None = None, *, also: tuple[str, ...]) -> Candidates:
    """The candidates of a slice.

    among: "annotated": those with a human score for every system, which can be replayed; "all": also without people.
    None: the annotated ones where there are any. also: metrics that count whatever their status.
    Raises QuestionError: see `Inputs`; nothing is annotated that should be.
    """
    block = Inputs(warehouse, asked, human="optional", also=also).of_level("seg")
    has_human = block.selection.human is not None
    annotated: Bools = np.asarray(~np.isnan(block.human).any(axis=0))
    if among == "annotated" and not annotated.any():
        raise QuestionError(f"{IT} has no segment with a human score for every system", where=where(block.selection))
    replayed = among != "all" and has_human and bool(annotated.any())
    kept: Bools = annotated if replayed else np.ones(len(block.segments), dtype=np.bool_)
    notes = []
    if replayed and not kept.all():
        n = int(kept.sum())
        notes.append(
            f"{n} of {len(kept)} segments are candidates: those that {block.selection.human} has of all systems"
        )
    numbers = block.segments[kept].tolist()
    found = ask(warehouse, "texts_of_segments", evalset=block.selection.evalset_id, segments=numbers)
    texts: dict[tuple[str, str | None], dict[int, str]] = {}
    for segment, kind, name, text in found.select("segment", "kind", "name", "text").iter_rows():
        texts.setdefault((kind, name), {})[segment] = text
    return Candidates(block, np.asarray(kept), texts, asked.lp.split("-")[0], tuple(notes))
