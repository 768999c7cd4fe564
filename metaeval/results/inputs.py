"""Inputs: from a slice to the arrays that numbers are computed on; every command comes through here."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from glob import escape
from typing import Any

import numpy as np

from metaeval.kernels.arrays.scales import mad_outliers
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.measures.preference_scores import of_preferences
from metaeval.measures.system_scores import system_scores
from queries.blocks import Block, fetch_block, with_marked_errors, with_systems
from queries.evalsets import HumanUse, expand, preference_score, stored_human
from queries.preference_blocks import with_preferences
from queries.reasons import Exclusion, Reason
from queries.selection import Level, Selection, most_common, select
from queries.slices import Slice
from queries.span_blocks import fetch_span_block
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT
from warehouse.facts.human_protocols import protocol_of
from warehouse.names import in_any_case
from warehouse.wording import option

_OF_DOCUMENTS = "spa, pearson(by=none), kendall_like and other measures of segment scores use documents"

WarehouseOpener = Callable[[], AbstractContextManager[Warehouse]]
"""Opens the warehouse, for what reads first and computes when it is closed."""


class Inputs:
    """The blocks of one slice: the official human score may differ between levels, so there are up to two.

    round_human: decimals to which human segment scores are rounded; None = as stored. human: whether the slice must
    have a human score (see `select`); if it is optional and none is named, one without segment scores does not count
    at segment level. also, ranks_reference: see `select`.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        asked: Slice,
        round_human: int | None = None,
        *,
        human: HumanUse = "required",
        also: Sequence[str] = (),
        ranks_reference: bool = False,
    ) -> None:
        self._warehouse = warehouse
        self._asked = asked
        self._round_human = round_human
        self._human = human
        self._select_with: dict[str, Any] = {"also": also, "ranks_reference": ranks_reference}
        self._by_level: dict[Level, Block] = {}
        self._by_human: dict[str | None, Block] = {}
        self._of_spans: Block | None = None
        self._of_preferences: Block | None = None

    def block(self, measure: Measure) -> Block:
        """The block that a measure is computed on.

        Raises QuestionError: see `select`.
        """
        if self._asked.level == "doc":
            check_documents(measure)
        if measure.definition.needs_spans:
            return self.of_spans()
        if measure.definition.needs_preferences:
            return self.of_preferences()
        block = self.of_level("seg" if measure.definition.needs_segments else "sys")
        if measure.get("good", "") == "error_free" and block.selection.human_id is not None:
            block = with_marked_errors(self._warehouse, block)
        if measure.calibrated_on is None:
            return block
        return replace(block, elsewhere=self._elsewhere(measure.calibrated_on, block.selection.human))

    def _elsewhere(self, testset: str, human: str | None) -> tuple[Block, ...]:
        """Blocks of another test set with the protocol of a human score; in the slice's language pair, else in all.

        Raises QuestionError: there are none.
        """
        sets = expand(self._warehouse, testset, "all").chosen
        same = [self._of_protocol(*one, human) for one in sets if one[1] == self._asked.lp]
        found = [block for block in same if block is not None]
        if not found:
            found = [block for one in sets if (block := self._of_protocol(*one, human)) is not None]
        if not found:
            raise QuestionError(f"no segment scores like {human} in test set {testset!r} to choose a threshold on")
        return tuple(found)

    def _of_protocol(self, testset: str, lp: str, human: str | None) -> Block | None:
        """The block of another evaluation set with this human score, else the official one of its protocol."""
        for name in (human, None):
            one = Slice(
                testset,
                lp,
                human=name,
                status="all" if self._asked.status == "all" else "official",
                user_metrics=self._asked.user_metrics,
                level=self._asked.level,
            )
            try:
                block = Inputs(self._warehouse, one, self._round_human).of_level("seg")
            except QuestionError:
                continue
            if block.judged.any() and protocol_of(str(block.selection.human)) == protocol_of(str(human)):
                return with_marked_errors(self._warehouse, block)
        return None

    def of_spans(self) -> Block:
        """The block of marked and predicted errors.

        Raises QuestionError: see `select` and `fetch_span_block`.
        """
        if self._of_spans is None:
            block = fetch_span_block(self._warehouse, self._select("seg", "required"))
            if not block.with_segments.any() and not self._asked.user_metrics:
                block = self._own_spans() or block
            self._of_spans = without_mad_outliers(block) if self._asked.outliers == "mad" else block
        return self._of_spans

    def of_preferences(self) -> Block:
        """The block of segment scores with preferences of its human score, whatever system scores these are made into.

        Raises QuestionError: see `select` and `with_preferences`.
        """
        if self._of_preferences is None:
            selection = self._select("seg", "required")
            stored = stored_human(str(selection.human))
            self._of_preferences = with_preferences(self._warehouse, self._with(replace(selection, human=stored)))
        return self._of_preferences

    def _own_spans(self) -> Block | None:
        """The block with the user's own metrics, if only they have error spans, and a note; None without any."""
        with_own = select(self._warehouse, replace(self._asked, user_metrics=True), "seg", **self._select_with)
        block = fetch_span_block(self._warehouse, with_own)
        if not block.with_segments.any():
            return None
        names = [metric.name for metric, has in zip(block.metrics, block.with_segments, strict=True) if has]
        note = f"{YOUR_OWN} (no others have error spans): {', '.join(names)}"
        asked = replace(block.selection.slice, user_metrics=self._asked.user_metrics)
        return replace(block, selection=replace(block.selection, slice=asked, notes=(*block.selection.notes, note)))

    def of_level(self, level: Level) -> Block:
        """The block with the human score of a level.

        Raises QuestionError: see `select`; the MAD rule without a human score.
        """
        if level not in self._by_level:
            block = self._with(self._select(level, self._human))
            if self._human == "optional" and self._asked.human is None and level == "seg" and not block.judged.any():
                block = self._with(self._select(level, "none"))
            self._by_level[level] = block
        return self._by_level[level]

    def judged_segments(self) -> Block:
        """The block of the segment level, restricted to metrics with a score for all that is judged.

        Raises QuestionError: see `select`; no segment is judged, or no metric is left.
        """
        block = self.of_level("seg")
        check_judged(block)
        if not block.with_segments.any():
            raise no_metric(block.selection, block.excluded)
        return block.take(metrics=block.with_segments)

    def _select(self, level: Level, human: HumanUse) -> Selection:
        return select(self._warehouse, self._asked, level, human=human, **self._select_with)

    def _with(self, selection: Selection) -> Block:
        if selection.human not in self._by_human:
            block = of_preferences(self._warehouse, fetch_block(self._warehouse, selection))
            if self._asked.outliers == "mad":
                block = without_mad_outliers(block)
            self._by_human[selection.human] = rounded(block, self._round_human)
        block = self._by_human[selection.human]
        notes = (*selection.notes, *(note for note in block.selection.notes if note not in selection.notes))
        return replace(block, selection=replace(block.selection, notes=notes))


YOUR_OWN = "your own"
"""What a note on metrics begins with that users added."""


def where(selection: Selection) -> str:
    """The evaluation set of a selection: test set and language pair."""
    return f"{selection.slice.testset} {selection.slice.lp}"


def without_segments(selection: Selection) -> QuestionError:
    """The error if no segments are judged."""
    human = str(selection.human)
    hint = f"{stored_human(human)} has: shares of comparisons won" if preference_score(human) else ()
    return QuestionError(f"human score {human!r} of {IT} has no segment scores", where=where(selection), hint=hint)


def check_judged(block: Block) -> None:
    """Raises QuestionError: the human score has no segment scores."""
    if not block.judged.any():
        raise without_segments(block.selection)


def check_whole(options: Options, asked: Slice) -> None:
    """Raises QuestionError: submitted system scores are requested for a part of a test set."""
    if options.system_score == "submitted" and not asked.is_whole:
        raise QuestionError(
            f"a part of a test set has no submitted system scores; take {option('system_score', 'mean')}"
        )


def check_documents(measure: Measure) -> None:
    """Raises QuestionError: the measure takes no scores of documents."""
    if measure.definition.needs_spans or measure.get("good", "") == "error_free":
        raise QuestionError(f"{measure} counts marked errors, which belong to segments, not documents")
    if measure.definition.needs_preferences:
        raise QuestionError(f"{measure} counts preferences, which belong to segments, not documents")
    if not measure.definition.needs_segments:
        raise QuestionError(f"{measure} uses submitted system scores, whatever {option('level')}; {_OF_DOCUMENTS}")


def check_used(options: Options, measures: Sequence[Measure]) -> None:
    """Raises QuestionError: options of system scores with segment-level measures only, which use none."""
    if any(measure.level == "sys" for measure in measures):
        return
    for name, is_given in (("system_score", options.system_score is not None), ("raw_ties", options.raw_ties)):
        if is_given:
            shown = ", ".join(dict.fromkeys(map(str, measures)))
            raise QuestionError(f"{name} applies to measures of systems, such as pearson, not to {shown}")


def no_metric(selection: Selection, excluded: Mapping[str, Exclusion], can: str = "can be used") -> QuestionError:
    """The error for a question without a metric: how many are excluded, and why most of them.

    excluded: metrics of the selection without what the question needs, with the reason.
    """
    choices = [replace(choice, reason=choice.reason or excluded.get(choice.name)) for choice in selection.metrics]
    if not choices:
        hint = "`scorehouse list lps` shows what has metrics"
        return QuestionError(f"no metric of {IT} {can}: none is loaded", where=where(selection), hint=hint)
    assert all(choice.reason is not None for choice in choices), "a metric without a reason not to be used"
    why, hints = most_common(choices)
    if len(choices) == 1 and choices[0].reason is not None:
        why = choices[0].reason.sentence
    reason = f"no metric of {IT} {can}: {len(choices)} excluded, {why}"
    if {choice.reason.reason for choice in choices if choice.reason} == {Reason.NO_SEGMENT_SCORES}:
        hints = (*hints, "pearson and pa rank by system scores")
    return QuestionError(reason, where=where(selection), hint=(*hints, f"{option('rank.explain', True)} lists all"))


def metric_place(block: Block, scorer: str) -> int | None:
    """A metric's place in a block, by its variant or else its base name; None if there is no such metric.

    Raises QuestionError: the metric is excluded, or the base name is that of several variants.
    """
    by_name = {metric.name: place for place, metric in enumerate(block.metrics)}
    known = {name for choice in block.selection.metrics for name in (choice.name, choice.base_name)}
    scorer = next(iter(in_any_case(escape(scorer), known)), scorer)
    variants = [name for name, place in by_name.items() if block.metrics[place].base_name == scorer]
    if scorer not in by_name and len(variants) > 1:
        raise QuestionError(f"scorer {scorer!r} of {where(block.selection)} is one of {', '.join(sorted(variants))}")
    place = by_name.get(scorer, by_name.get(variants[0]) if variants else None)
    if place is None:
        for choice in block.selection.metrics:
            if scorer in (choice.name, choice.base_name) and choice.reason is not None:
                text = f"{choice.name} of {where(block.selection)} is excluded: {choice.reason.sentence}"
                raise QuestionError(text, hint=choice.reason.hint)
    return place


def without_mad_outliers(block: Block) -> Block:
    """The block without systems whose human score lies far from the median (MAD rule of Mathur et al. 2020)."""
    if block.selection.human is None:
        reason = f"the MAD rule needs human scores; {IT} has none (drop {option('mad_outliers', True)})"
        raise QuestionError(reason, where=where(block.selection))
    outlying = mad_outliers(system_scores(block, "submitted").human)
    return with_systems(block, ~outlying, Exclusion(Reason.MAD_OUTLIER))


def rounded(block: Block, decimals: int | None) -> Block:
    """The block with its human segment scores rounded, so that scores that differ by floating-point error are equal."""
    if decimals is None:
        return block
    return replace(block, human=np.round(block.human, decimals) + 0.0)
