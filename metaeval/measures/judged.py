"""The judged part of a block, in the form that tests need, and the groups of its scores."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval import kernels
from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.arrays.grouping import Grouping
from metaeval.kernels.resampling.draws import Alternative
from metaeval.kernels.resampling.prepared import ResampleStatistic
from metaeval.measures.options import TestUnit, Unit
from queries.blocks import Block
from queries.selection import Selection
from warehouse import QuestionError
from warehouse.errors import IT
from warehouse.wording import counted, option

#: From this many documents on they are the unit, unless another is requested.
DOCUMENTS_BY_DEFAULT = 10
#: Swapping fewer documents cannot reach p = .05: of 5 there are 32 ways, two of which are as extreme as the data.
LEAST_DOCUMENTS = 6
#: Fewer have no test and no interval.
LEAST_UNITS = 5


@dataclass(frozen=True)
class JudgedSegments:
    """Segments with at least one judgement: human (N, S'), scores (M, N, S'); labels (N, S') of groups, or None."""

    human: Floats
    scores: Floats
    labels: Ints | None = None


def judged_segments(block: Block, by: object = None) -> JudgedSegments:
    """Arrays of a block without unjudged segments; by: grouping of a measure, None = no groups."""
    kept = block.judged.any(axis=0)
    human = block.human[:, kept]
    groups = None if by is None else _labels(block.selection, by, human.shape, np.flatnonzero(kept))
    return JudgedSegments(human, block.scores[:, :, kept], groups)


def least_p_value(n: int, alternative: Alternative) -> float:
    """The smallest p of a test that swaps n units or flips their signs: of 2^n ways, 1 is as extreme as the data, or 2.

    >>> least_p_value(5, "two-sided"), least_p_value(5, "greater")
    (0.0625, 0.03125)
    """
    return float((2 if alternative == "two-sided" else 1) * 0.5**n)


@dataclass(frozen=True)
class Units:
    """Units that are swapped, resampled or excluded: whole documents, single segments, or annotators.

    n: number of units. documents: (S',) the document of each annotated segment, from 0; None = each row, or each
    annotator, is a unit.
    why: the reason for using segments if documents are the default; else empty.
    """

    unit: TestUnit
    n: int
    documents: Ints | None = None
    why: str = ""

    @property
    def df(self) -> float:
        """Degrees of freedom of an interval; with few documents or annotators, a normal interval is too narrow."""
        return float("inf") if self.documents is None and self.unit != "annotator" else self.n - 1.0

    @property
    def words(self) -> str:
        """Description such as "by document (24 documents)"."""
        return f"by {self.unit} ({counted(self.n, self.unit)}{self.why and f': {self.why}'})"

    def resampled(self, statistic: ResampleStatistic) -> ResampleStatistic:
        """A statistic of annotated segments, resampled by these units instead."""
        from metaeval.kernels.resampling.resampled_statistics import DocumentResample

        return statistic if self.documents is None else DocumentResample(statistic, self.documents)


def units_of(selection: Selection, kept: npt.ArrayLike, asked: Unit | None = None) -> Units:
    """The units of a test, an interval or a resample: whole documents if there are at least 10, else segments.

    kept: (S,) which segments count, usually the segments with human scores. asked: a unit requested by name.
    Raises QuestionError: documents are requested, but there are fewer than 6, or a segment has no document.
    """
    is_kept = np.asarray(kept, dtype=np.bool_)
    n = int(is_kept.sum())
    if selection.slice.level == "doc":
        return Units("document", n)
    if asked == "segment" or (asked is None and n == 0):
        return Units("segment", n)
    if asked is None and any(name is None for name in np.array(selection.documents, dtype=object)[is_kept]):
        return Units("segment", n, why="not every segment has a document")
    documents = documents_of(selection, is_kept)
    n_documents = int(documents.max(initial=-1)) + 1
    if asked is None and n_documents < DOCUMENTS_BY_DEFAULT:
        return Units("segment", n, why=f"fewer than {DOCUMENTS_BY_DEFAULT} documents")
    if n_documents < LEAST_DOCUMENTS:
        raise QuestionError(
            f"{IT} has {counted(n_documents, 'document')} with human scores, and {option('unit', 'document')} needs at "
            f"least {LEAST_DOCUMENTS}: fewer cannot reach p = .05; take {option('unit', 'segment')}",
            where=f"{selection.slice.testset} {selection.slice.lp}",
        )
    return Units("document", n_documents, documents)


def documents_of(selection: Selection, kept: npt.ArrayLike) -> Ints:
    """Number of the document of each segment that is kept, from 0.

    Raises QuestionError: a segment has no document.
    """
    return np.unique(np.array(document_names(selection, kept), dtype=str), return_inverse=True)[1].astype(np.int64)


def document_names(selection: Selection, kept: npt.ArrayLike) -> list[str]:
    """The document of each segment that is kept.

    Raises QuestionError: a segment has no document.
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
    """Labels over some segments of a selection; by item, they number these segments and so index a swap mask."""
    grouping: Grouping = by  # type: ignore[assignment]
    return kernels.group_labels(
        grouping,
        shape,
        documents=[selection.documents[place] for place in segments],
        domains=[selection.domains[place] for place in segments],
    )
