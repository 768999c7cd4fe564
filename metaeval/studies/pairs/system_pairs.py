"""System pairs: human and metric differences between every two systems of an evaluation set, over evaluation sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from metaeval.kernels.arrays.checks import Floats, Ints
from metaeval.kernels.resampling.system_tests import wilcoxon_p_values
from metaeval.measures.options import Options, SystemScore
from metaeval.measures.system_scores import asked_scores, usual_factor
from metaeval.results.inputs import Inputs
from metaeval.results.run import Run
from queries.blocks import Block
from queries.evalsets import expand, without_challenge_sets
from queries.longitudinal import human_levels, metric_names
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT
from warehouse.facts.human_protocols import by_scale, protocol_of
from warehouse.facts.metrics import folded
from warehouse.wording import are


@dataclass(frozen=True)
class SystemPairs:
    """The pairs of one evaluation set's systems by one human score; P pairs, M metrics.

    first, second: (P,) indices of their systems. human_gaps: (P,), score of the first minus that of the second.
    metric_gaps: (M, P), likewise. p: (P,) two-sided, of Wilcoxon's signed-rank test on human segment scores; NaN if no
    segment was annotated for both systems, or if the test was not requested. used: source of each metric's system
    scores. human_deviation: standard deviation of the human system scores. largest: (M,) largest absolute system score.
    factors: (M,) by which scores were multiplied to be on the metric's usual scale (see `usual_factor`).
    """

    testset: str
    lp: str
    human: str
    systems: tuple[str, ...]
    metric_names: tuple[str, ...]
    base_names: tuple[str, ...]
    first: Ints
    second: Ints
    human_gaps: Floats
    metric_gaps: Floats
    p: Floats
    used: tuple[SystemScore, ...]
    human_deviation: float
    largest: Floats
    factors: Floats

    @property
    def protocol(self) -> str:
        """The protocol of the human score."""
        return protocol_of(self.human)

    @property
    def direction(self) -> str:
        """Whether English is the target, the source, or neither."""
        return direction_of(self.lp)

    @property
    def where(self) -> str:
        return f"{self.testset} {self.lp}"


DIRECTIONS = ("into English", "from English", "without English")


def direction_of(lp: str) -> str:
    """Whether English is the target, the source, or neither.

    >>> [direction_of(lp) for lp in ("de-en", "en-zh_CN", "fr-de")]
    ['into English', 'from English', 'without English']
    """
    source, _, target = lp.partition("-")
    if target.partition("_")[0] in ("en", "eng"):
        return DIRECTIONS[0]
    return DIRECTIONS[1] if source.partition("_")[0] in ("en", "eng") else DIRECTIONS[2]


def pairs_of(block: Block, options: Options, *, tested: bool) -> SystemPairs:
    """The pairs of a block's systems that have a human score; metrics without scores for all of these are dropped.

    tested: whether human differences are tested.
    Raises QuestionError: fewer than two systems have a human score.
    """
    scores = asked_scores(block, options.system_score, raw=options.raw_ties)
    judged = np.flatnonzero(~np.isnan(scores.human))
    where = f"{block.selection.slice.testset} {block.selection.slice.lp}"
    if len(judged) < 2:
        by = block.selection.human
        few = f"{by} scores of one system alone" if len(judged) else f"no system or segment scores by {by}"
        raise QuestionError(f"{IT} has {few}", where=where)
    # With gaps, metrics would be compared on different pairs, some easier than others.
    whole = ~np.isnan(scores.metrics[:, judged]).any(axis=1)
    first, second = np.triu_indices(len(judged), 1)
    human, metrics = scores.human[judged], scores.metrics[np.ix_(whole, judged)]
    kept = np.flatnonzero(whole)
    testset = block.selection.slice.testset
    factors = np.array([usual_factor(block.metrics[at], testset, one) for at, one in zip(kept, metrics, strict=True)])
    metrics = metrics * factors[:, np.newaxis]
    p = np.full(len(first), np.nan)
    if tested and block.judged.any():
        p = wilcoxon_p_values(block.human[judged], block.judged[judged], "two-sided")[first, second]
        common = (block.judged[judged[first]] & block.judged[judged[second]]).any(axis=1)
        p = np.where(common, p, np.nan)
    return SystemPairs(
        testset=testset,
        lp=block.selection.slice.lp,
        human=str(block.selection.human),
        systems=tuple(block.systems[place] for place in judged),
        metric_names=tuple(block.metrics[place].name for place in kept),
        base_names=tuple(block.metrics[place].base_name for place in kept),
        first=first,
        second=second,
        human_gaps=human[first] - human[second],
        metric_gaps=metrics[:, first] - metrics[:, second],
        p=p,
        used=tuple(scores.used[place] for place in kept),
        human_deviation=float(human.std(ddof=1)),
        largest=np.abs(metrics).max(axis=1),
        factors=factors,
    )


def read_pairs(
    run: Run, asked: Slice, options: Options, *, tested: bool, each_protocol: bool, metric: str | None = None
) -> tuple[list[SystemPairs], list[str]]:
    """The system pairs of the evaluation sets of a slice, and a note for each set without any.

    asked: its test set and language pair may be several, joined by commas, or "all". each_protocol: if the slice names
    no human score, use one of each human protocol of a set, the official one first; otherwise only the official one.
    metric: use only this metric, in any spelling; sets without it are excluded without a note.
    Raises QuestionError: unknown names.
    """
    found: list[SystemPairs] = []
    notes: dict[str, list[str]] = {}
    with run.opened() as warehouse:
        excluded = without_challenge_sets(warehouse, asked.testset)
        sets = expand(warehouse, asked.testset, asked.lp, asked.human).chosen
    work = partial(_pairs_at, asked=asked, options=options, tested=tested, each_protocol=each_protocol, metric=metric)
    for place, computed in zip(sets, run.each(work, sets, "system pairs"), strict=True):
        pairs, error = ([], computed) if isinstance(computed, QuestionError) else computed
        found += pairs
        if error is not None:
            notes.setdefault(error.brief, []).append(" ".join(place))
    return found, [
        *excluded,
        *(f"{', '.join(named)} {are(len(named))} excluded: {reason}" for reason, named in notes.items()),
    ]


def _pairs_at(
    run: Run,
    testset: str,
    lp: str,
    *,
    asked: Slice,
    options: Options,
    tested: bool,
    each_protocol: bool,
    metric: str | None,
) -> tuple[list[SystemPairs], QuestionError | None]:
    """The pairs of one evaluation set by each human score, up to the first without any, and why it has none."""
    own = replace(asked, testset=testset, lp=lp)
    found: list[SystemPairs] = []
    with run.opened() as warehouse:
        if metric is not None:
            if not (names := _spellings(metric, metric_names(warehouse, testset, lp))):
                return [], None
            own = replace(own, metrics=names)
        try:
            found.extend(
                pairs_of(one, options, tested=tested) for one in _blocks(warehouse, own, options, each_protocol)
            )
        except QuestionError as error:
            return found, error
    return found, None


def _spellings(metric: str, there: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The metric as it is written in an evaluation set: exactly so, or else in every other spelling.

    >>> _spellings("chrF", [("chrF-refA", "chrF"), ("chrf-refA", "chrf")]), _spellings("COMET22", [("x", "COMET-22")])
    (('chrF',), ('COMET-22',))
    """
    names = {name for both in there for name in both}
    same = sorted(name for name in names if folded(name) == folded(metric))
    return (metric,) if metric in names else tuple(same)


def _blocks(warehouse: Warehouse, asked: Slice, options: Options, each_protocol: bool) -> Iterator[Block]:
    """The block of the official human score, then one per further human protocol."""
    official = Inputs(warehouse, asked, options.round_human).of_level("sys")
    yield official
    if asked.human is not None or not each_protocol:
        return
    seen = {protocol_of(str(official.selection.human))}
    humans = human_levels(warehouse, asked.testset, asked.lp)
    for human in by_scale(humans, "sys"):
        if protocol_of(human) not in seen and any(humans[human][:2]):
            seen.add(protocol_of(human))
            yield Inputs(warehouse, replace(asked, human=human), options.round_human).of_level("sys")
