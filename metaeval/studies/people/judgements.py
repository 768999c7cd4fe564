"""The judgements of one human score as arrays, in the order of annotation if that is known."""

from dataclasses import dataclass

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.draws import resample_counts
from metaeval.studies.people.reliability import Judgements, numbered
from queries.annotations import JudgedScore, annotations
from warehouse import Warehouse

_STREAM = 7  # of the seed


@dataclass(frozen=True)
class People:
    """The judgements of one human score that count; arrays are (n,), in the order of annotation if it is known.

    documents: document number of each, from 0, or its segment if no document is known. n_each: number of judgements
    averaged in a value. has_order: whether times are loaded. n_excluded: excluded judgements, by annotator if known.
    n_beside: those that count here but are no part of the human score, by status, repeat or filler.
    """

    judged: Judgements
    documents: Ints
    n_each: Ints
    names: tuple[str, ...]
    has_order: bool
    n_excluded: dict[str | None, int]
    n_beside: dict[str, int]

    @property
    def residuals(self) -> Floats:
        """Each judgement minus the mean of all judgements of its system."""
        rows = self.judged.rows
        means = np.bincount(rows, self.judged.values) / np.maximum(np.bincount(rows), 1)
        return np.asarray(self.judged.values - means[rows])


def load_people(warehouse: Warehouse, score: JudgedScore) -> People | None:
    """The judgements of a human score as arrays; None if none counts."""
    frame = annotations(warehouse, score)
    excluded: dict[str | None, int] = {}
    for rater in frame.filter(~frame["counts"])["rater"].to_list():
        excluded[rater] = excluded.get(rater, 0) + 1
    frame = frame.filter(frame["counts"])
    if frame.is_empty():
        return None
    has_order = frame["time"].null_count() == 0
    if has_order:
        frame = frame.sort("time", maintain_order=True)
    systems, segments = sorted(set(frame["system"])), sorted(set(frame["segment"]))
    row_of, column_of = ({name: place for place, name in enumerate(names)} for names in (systems, segments))
    raters = frame["rater"].to_list()
    known = sorted({rater for rater in raters if rater is not None}) if None not in raters else []
    number = {name: place for place, name in enumerate(known)}
    judged = Judgements(
        np.array([row_of[name] for name in frame["system"]], dtype=np.int64),
        np.array([column_of[name] for name in frame["segment"]], dtype=np.int64),
        frame["value"].to_numpy().astype(np.float64),
        np.array([number[name] for name in raters], dtype=np.int64) if known else None,
        (len(systems), len(segments)),
    )
    texts = frame.select("document", "segment").rows()
    documents = numbered([f"segment {segment}" if document is None else document for document, segment in texts])
    assert documents is not None
    n_each = frame["n"].to_numpy().astype(np.int64)
    beside = {status: frame["status"].to_list().count(status) for status in ("repeat", "filler")}
    beside = {status: n for status, n in beside.items() if n}
    return People(judged, documents, n_each, tuple(known), has_order, excluded, beside)


def resamples(people: People, draws: int, seed: int) -> Floats:
    """(draws, segments) how often each segment, a column of the judgements, occurs in a resample."""
    _, first = np.unique(people.judged.columns, return_index=True)
    drawn = resample_counts(np.random.default_rng([seed, _STREAM]), draws, len(first))
    return np.asarray(drawn[:, np.argsort(np.argsort(first))])  # drawn in the order of annotation


def shared(people: People) -> tuple[Floats, Ints, Ints]:
    """One value per annotator and output (the mean of repeated judgements), for outputs with at least two annotators.

    Returns values, outputs (numbers on the grid) and annotators, sorted by output, then annotator.
    """
    assert people.judged.raters is not None
    n_raters = people.judged.n_raters
    keys, places = np.unique(people.judged.outputs * n_raters + people.judged.raters, return_inverse=True)
    values = np.bincount(places, people.judged.values) / np.bincount(places)
    outputs, raters = keys // n_raters, keys % n_raters
    _, place, n = np.unique(outputs, return_inverse=True, return_counts=True)
    kept = n[place] > 1
    return values[kept], outputs[kept], raters[kept]
