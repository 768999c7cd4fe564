"""Human means estimated with a metric's help: annotators judged a random sample of the segments, metrics scored all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from glob import escape

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.assisted_means import AssistedMean, assisted_mean
from metaeval.kernels.resampling.confidence_sequences import FEWEST
from metaeval.results.answer import Result, table_parts
from metaeval.results.inputs import Inputs, check_judged, metric_place
from metaeval.results.signature import Part
from metaeval.studies.people.reliability import numbered
from queries.blocks import Block
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import unknown
from warehouse.wording import are, counted, option

_FEWEST = 5  # judged segments, or documents
_UNLIKELY = 4.0  # standard errors between the sample and all segments by the metric


@dataclass(frozen=True)
class AnnotatedSample:
    """The judged segments, and how they were sampled.

    scores: (metrics, systems, segments). order: random order of all segments. documents: (segments,) document numbers
    if whole documents were judged or not, else None. probabilities: (segments,) probability with which each was
    sampled, NaN if it could not be; None: all equal.
    """

    block: Block
    scores: Floats
    name: str
    order: Ints
    documents: Ints | None
    probabilities: Floats | None

    def mean(self, human: Floats, scores: Floats) -> tuple[AssistedMean, int, int] | None:
        """Estimated mean from (segments,) human values and (metrics, segments) scores; None with too few judged values.

        Also the numbers of judged and of scored segments.
        """
        is_scored = ~np.isnan(scores).any(axis=0)
        sample = self.order[(is_scored & ~np.isnan(human))[self.order]]
        clusters = None if self.documents is None else self.documents[sample]
        if len(sample if clusters is None else np.unique(clusters)) < _FEWEST:
            return None
        chances = None if self.probabilities is None else self.probabilities[sample]
        found = assisted_mean(
            human[sample], scores[:, sample], scores[:, is_scored], clusters=clusters, probabilities=chances
        )
        return found, len(sample), int(is_scored.sum())

    @property
    def unit(self) -> str:
        """The sampled unit."""
        return "segment" if self.documents is None else "document"

    def plain_mean(self, human: Floats) -> float:
        """Mean of the judged values, weighted by the number of segments that each represents."""
        there = ~np.isnan(human)
        weights = None if self.probabilities is None else 1 / self.probabilities[there]
        return float(np.average(human[there], weights=weights))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Parts of the signature about the sample."""
        weighted = None if self.probabilities is None else "inverse_probability"
        return (("by", self.name), ("sampled", self.unit), ("weights", weighted), ("interval", "t_95"))

    @property
    def notes(self) -> list[str]:
        """Notes on the sample behind the estimates."""
        notes = [
            f"saved: share of the judgements that {self.name} replaces; a metric that does not help saves about 0",
        ]
        if self.probabilities is not None:
            notes.append("judged segments are weighted by the inverse of their probability of being sampled")
        else:
            notes.append(
                f"the interval holds where the judged {self.unit}s are a random sample of all, not where they were "
                f"chosen: {option('sampled_by')} takes the file that {option('sample.method', 'random')} wrote"
            )
            distance = _distance(self.block, self.scores, self.documents)
            if abs(distance) > _UNLIKELY:
                how = "better" if distance > 0 else "worse"
                notes.insert(
                    0,
                    f"the judged segments do not look like a random sample: by {self.name} they are {how} than all "
                    f"segments by {abs(distance):.1f} standard errors; estimates and intervals may be wrong",
                )
        if self.block.judged[~np.isnan(self.scores).any(axis=0)].all():
            notes.append("people judged every segment: there is nothing to estimate")
        return notes


def annotated_sample(
    warehouse: Warehouse, asked: Slice, metrics: Sequence[str], seed: int, probabilities: Mapping[int, float] | None
) -> AnnotatedSample:
    """The judged segments of an evaluation set, with the scores of metrics.

    probabilities: sampling probability by segment; None: all equal. If nearly every document was judged either
    completely or not at all, whole documents count as sampled.
    Raises QuestionError: an unknown metric, nothing is judged, or judged segments without a probability.
    """
    block = Inputs(warehouse, asked, None).of_level("seg")
    check_judged(block)
    places = []
    for name in metrics:
        if (place := metric_place(block, name)) is None:
            raise unknown("metric", name, [one.name for one in block.metrics], where=f"{asked.testset} {asked.lp}")
        places.append(place)
    chances = None
    if probabilities is not None:
        chances = np.array([probabilities.get(segment, np.nan) for segment in block.segments])
        if n_without := int((block.judged.any(axis=0) & np.isnan(chances)).sum()):
            raise QuestionError(
                f"{counted(n_without, 'judged segment')} of {asked.testset} {asked.lp}: not among the sampled segments"
            )
    return AnnotatedSample(
        block,
        block.scores[places],
        "+".join(block.metrics[place].name for place in places),
        np.random.default_rng(seed).permutation(len(block.segments)),
        _sampled_documents(block),
        chances,
    )


def _sampled_documents(block: Block) -> Ints | None:
    """Document numbers if whole documents were judged or not, with at least five of each kind; else None."""
    documents = numbered(block.selection.documents)
    if documents is None:
        return None
    judged = np.asarray(block.judged.any(axis=0))
    n = np.bincount(documents)
    shares = np.bincount(documents, judged) / n
    is_whole = np.isin(shares, (0, 1))
    if n.max() < 2 or (shares == 1).sum() < _FEWEST or is_whole.mean() < _MOSTLY:
        return None
    return documents


_MOSTLY = 0.9  # of the documents


def _distance(block: Block, scores: Floats, documents: Ints | None) -> float:
    """Excess of the first metric's mean over judged segments above its mean over all, in standard errors."""
    is_scored = np.asarray(~np.isnan(scores[0]).any(axis=0))
    values, judged = scores[0][:, is_scored].mean(axis=0), np.asarray(block.judged.any(axis=0))[is_scored]
    units = np.arange(len(values)) if documents is None else documents[is_scored]
    sizes = np.bincount(units)
    totals = np.bincount(units, values - values.mean()) if len(values) else np.zeros(0)
    there, drawn = sizes > 0, np.bincount(units, judged) > 0
    n, n_all = int(drawn.sum()), int(there.sum())
    spread = totals[there].std(ddof=1) if n_all > 1 else 0.0
    if n in (0, n_all) or spread == 0:
        return 0.0
    return float((totals[drawn].mean() - totals[there].mean()) / (spread * np.sqrt(1 / n - 1 / n_all)))


def assisted_means(
    warehouse: Warehouse,
    asked: Slice,
    metrics: Sequence[str],
    seed: int,
    probabilities: Mapping[int, float] | None = None,
) -> Result:
    """Each system's mean human score over all segments that metrics scored, estimated from the judged segments.

    Columns: system, judged_mean, assisted (the estimate), low, high (its 95% interval), saved (share of judgements that
    the metrics save; below 0 if they add noise), n_judged, n_segments (scored by the metrics); best first.
    seed: for the random order in which judged segments are assigned to folds. probabilities: see `annotated_sample`.
    Raises QuestionError: see `annotated_sample`; no system with 5 judged segments.
    """
    sample = annotated_sample(warehouse, asked, metrics, seed, probabilities)
    rows, left, rare = [], [], []
    for place, system in enumerate(sample.block.systems):
        human = sample.block.human[place]
        if (found := sample.mean(human, sample.scores[:, place])) is None:
            left.append(system)
            continue
        mean, *counts = found
        if _n_other(human) < FEWEST:
            rare.append(system)
        rows.append((system, sample.plain_mean(human), *mean, *counts))
    if not rows:
        raise QuestionError(
            f"no system has {counted(_FEWEST, sample.unit)} that people judged and {', '.join(metrics)} scored"
        )
    names = ("judged_mean", "assisted", "low", "high", "saved")
    schema = {"system": pl.String, **dict.fromkeys(names, pl.Float64), "n_judged": pl.Int64, "n_segments": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(names).fill_nan(None))
    notes = sample.notes
    if n_left := len(left):
        these = f"{counted(n_left, 'system')} with fewer than {_FEWEST} judged {sample.unit}s"
        notes.append(f"{these} {are(n_left)} excluded: {', '.join(left)}")
    if rare:
        notes.append(
            f"intervals of {counted(len(rare), 'system')} may be too short: fewer than {FEWEST} of the judged segments "
            f"differ from the most common score: {', '.join(rare)}"
        )
    parts = table_parts(("means", "assisted"), sample.block, *sample.parts, ("seed", seed))
    return Result(frame.sort("assisted", descending=True), parts, (*notes, *sample.block.selection.notes))


def assisted_differences(
    warehouse: Warehouse,
    asked: Slice,
    systems: tuple[str, str] | None,
    metrics: Sequence[str],
    seed: int,
    probabilities: Mapping[int, float] | None = None,
) -> Result:
    """Differences of two systems' mean human scores over all segments, estimated from the segments judged for both.

    systems: two; None: every pair. Columns: first (with the higher estimate), second, judged_difference, assisted, low,
    high (95% interval), p (two-sided), is_significant (at .05), saved, n_judged, n_segments; the pairs of the best
    system first. seed, probabilities: as for `assisted_means`.
    Raises QuestionError: see `annotated_sample`; fewer than two systems; no pair with 5 judged segments in common.
    """
    from scipy.stats import t

    within = asked if systems is None else replace(asked, systems=tuple(map(escape, systems)))
    sample = annotated_sample(warehouse, within, metrics, seed, probabilities)
    block, rows, n_left = sample.block, [], 0
    n_rare = 0
    if len(block.systems) < 2:
        raise QuestionError(f"a difference needs two systems; {', '.join(block.systems)} is the only one with scores")
    for i, j in zip(*np.triu_indices(len(block.systems), 1), strict=True):
        human, scores = block.human[i] - block.human[j], sample.scores[:, i] - sample.scores[:, j]
        if (found := sample.mean(human, scores)) is None:
            n_left += 1
            continue
        mean, n_judged, n_all = found
        n_rare += _n_other(human) < FEWEST
        sign = 1 if mean.estimate >= 0 else -1
        names = (block.systems[i], block.systems[j])[::sign]
        low, high = sorted((sign * mean.low, sign * mean.high))
        n_units = n_judged
        if sample.documents is not None:
            n_units = len(np.unique(sample.documents[~np.isnan(human)]))
        half, width = (high - low) / 2, t.ppf(0.975, n_units - 1)
        p = 2 * t.sf(abs(mean.estimate) * width / half, n_units - 1) if half > 0 else float(mean.estimate == 0)
        values = (sign * sample.plain_mean(human), abs(mean.estimate), low, high, float(p))
        rows.append((*names, *values, bool(p <= _ALPHA), mean.saved, n_judged, n_all))
    if not rows:
        raise QuestionError(f"no two systems have {counted(_FEWEST, sample.unit)} in common that people judged")
    floats = ("judged_difference", "assisted", "low", "high", "p")
    schema = {"first": pl.String, "second": pl.String, **dict.fromkeys(floats, pl.Float64)}
    schema |= {"is_significant": pl.Boolean, "saved": pl.Float64, "n_judged": pl.Int64, "n_segments": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))
    wins = pl.len().over("first")
    frame = frame.sort(wins, "first", "assisted", descending=[True, False, False], maintain_order=True)
    notes = sample.notes
    if n_left:
        these = f"{counted(n_left, 'pair')} of systems with fewer than {_FEWEST} judged {sample.unit}s in common"
        notes.append(f"{these} {are(n_left)} excluded")
    if n_rare:
        notes.append(
            f"intervals of {counted(n_rare, 'pair')} may be too short: fewer than {FEWEST} judged segments differ from "
            "the most common difference"
        )
    parts = table_parts(("systems", "assisted"), block, *sample.parts, ("seed", seed))
    return Result(frame, parts, (*notes, *block.selection.notes))


_ALPHA = 0.05


def _n_other(human: Floats) -> int:
    """Number of judged values that differ from the most common value."""
    _, n = np.unique(np.round(human[~np.isnan(human)], 9), return_counts=True)
    return int(n.sum() - n.max(initial=0))
