"""The judged part of a block, as tests take it, and the groups of its scores."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import Grouping
from queries.blocks import Block
from queries.selection import Selection
from warehouse import QuestionError
from warehouse.errors import IT
from warehouse.wording import option


@dataclass(frozen=True)
class Judged:
    """Segments with at least one judgement: human (N, S'), scores (M, N, S'); labels (N, S') of groups, or None."""

    human: Floats
    scores: Floats
    labels: Ints | None = None


def judged_segments(block: Block, by: object = None) -> Judged:
    """Arrays of a block without segments that nobody judged; by: grouping of a measure, None = without."""
    kept = block.judged.any(axis=0)
    human = block.human[:, kept]
    groups = None if by is None else _labels(block.selection, by, human.shape, np.flatnonzero(kept))
    return Judged(human, block.scores[:, :, kept], groups)


def documents_of(selection: Selection, kept: npt.ArrayLike) -> Ints:
    """Number of the document of each segment that is kept, from 0.

    Raises QuestionError: a segment is of no document.
    """
    return np.unique(np.array(document_names(selection, kept), dtype=str), return_inverse=True)[1].astype(np.int64)


def document_names(selection: Selection, kept: npt.ArrayLike) -> list[str]:
    """The document of each segment that is kept.

    Raises QuestionError: a segment is of no document.
    """
    named = [name for name, is_kept in zip(selection.documents, np.asarray(kept), strict=True) if is_kept]
    if None in named:
        asked = selection.slice
        where = f"{asked.testset} {asked.lp}"
        raise QuestionError(f"{IT} has segments without a document; take {option('unit', 'segment')}", where=where)
    return [str(name) for name in named]


def labels(block: Block, by: object) -> Ints:
    """Group of each (system, segment) score, (N, S), for a measure's `by`."""
    return _labels(block.selection, by, block.human.shape, np.arange(block.human.shape[1]))


def _labels(selection: Selection, by: object, shape: tuple[int, int], segments: Ints) -> Ints:
    """Labels over some segments of a selection; by item they count these, so that they are places in a swap mask."""
    grouping: Grouping = by  # type: ignore[assignment]
    return kernels.group_labels(
        grouping,
        shape,
        documents=[selection.documents[place] for place in segments],
        domains=[selection.domains[place] for place in segments],
    )
