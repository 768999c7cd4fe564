"""Inputs of a protocol from the warehouse: one block per rule and language pair."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from metaeval.measures.measure import Measure
from metaeval.measures.options import Options
from metaeval.results.inputs import Inputs
from metaeval.results.notes import Partial
from metaeval.studies.protocols import Outliers, Protocol, Rule, protocol_named, protocols
from queries.blocks import Block
from queries.catalog import ask
from queries.evalsets import expand, stored_human
from queries.listing import names
from queries.reasons import Exclusion
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.testsets import known_testsets
from warehouse.wording import are, option


@dataclass(frozen=True)
class TaskBlock:
    """One language pair's block for a rule. absent: base name -> why the selection excludes the metric.

    domain: None = all; human_references: None = as the organisers ranked them; outliers: those that are excluded.
    """

    lp: str
    block: Block
    absent: Mapping[str, Exclusion]
    domain: str | None = None
    human_references: bool | None = None
    outliers: Outliers = "organisers"


class DroppedTask(NamedTuple):
    """A task that cannot be scored: the measure, its language pair, and why."""

    task: str
    lp: str
    reason: str


def task_named(rule: Rule, domain: str | None = None) -> str:
    """A task in words: its measure, and its domain if it has one."""
    return str(rule.measure) if domain is None else f"{rule.measure} in {domain}"


@dataclass(frozen=True)
class Entry:
    """A protocol's inputs on a test set: everything it reads from the warehouse.

    lps: language pairs scored. entered: for each rule, its blocks. dropped: tasks without a human score. notes: on
    missing data.
    """

    protocol: Protocol
    testset: str
    lps: tuple[str, ...]
    entered: tuple[tuple[TaskBlock, ...], ...]
    dropped: tuple[DroppedTask, ...]
    notes: tuple[str, ...]


def plan(
    warehouse: Warehouse, protocol: Protocol, testset: str, lps: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """Language pairs to score, and notes on missing ones.

    The requested ones; else those named in user rules; else the loaded official ones of the test set's year; else all
    that have an official human score.
    Raises QuestionError: unknown test set or language pair, or none with an official human score.
    """
    loaded = warehouse.once(names, lambda: names(warehouse, "testset"))
    if testset == protocol.name and testset not in loaded:
        others = [name for name in loaded if name in protocols()] or loaded
        way_out = f"`{option('on', others[-1])}` scores that one by its rules; " if others else ""
        raise QuestionError(
            f"test set {testset!r} is not loaded; {way_out}`scorehouse load PATH` "
            + (f"or `scorehouse download {testset}` " if testset in known_testsets() else "")
            + "loads it"
        )
    if lps:
        return [lp for _, lp in expand(warehouse, testset, ",".join(lps)).chosen], []
    loaded_pairs = expand(warehouse, testset, "all")
    available, without_human = ([lp for _, lp in one] for one in (loaded_pairs.chosen, loaded_pairs.without_human))
    own = protocol.default_lps if protocol.own_tasks else ()
    official = own or (protocols()[testset].default_lps if testset in protocols() else ())
    chosen = [lp for lp in official if lp in available]
    if not official or not (chosen or own or testset == protocol.name):
        return available, []
    if not chosen:
        whose = f"language pairs of {protocol.name}" if own else "official language pairs"
        lacking = "has an official human score" if set(official) & set(without_human) else "is loaded"
        raise QuestionError(f"none of the {whose} {lacking} in {testset}: {', '.join(official)}")
    absent = [lp for lp in official if lp not in available]
    loading = "not loaded with official human scores" if set(absent) & set(without_human) else "not loaded"
    whole = protocol.name if own else testset
    is_official = "not the official one" if testset == protocol.name else f"not all of {whole}'s"
    scope = f"only {', '.join(chosen)}" + (" and is " if testset == protocol.name else ", ") + is_official
    notes: list[str] = [
        Partial(
            f"the score covers {scope}: {', '.join(absent)} {are(len(absent))} {loading}",
            f"{is_official}, {loading}:",
            ", ".join(absent),
        )
    ]
    return chosen, notes if absent else []


def enter(
    warehouse: Warehouse,
    protocol: Protocol,
    testset: str,
    *,
    lps: Sequence[str] | None = None,
    asked: Slice | None = None,
    all_metrics: bool = False,
    options: Options | None = None,
    blocks: "Blocks | None" = None,
) -> Entry:
    """Read what a protocol needs.

    lps: language pairs; None = see `plan`. asked: further restrictions of the slice. all_metrics: also read contrastive
    metrics and those not submitted. blocks: of this warehouse, shared by several protocols.
    A task whose human score is missing is dropped.
    Raises QuestionError: see `plan`; see `select`, if no task is left.
    """
    options = options or Options()
    chosen, notes = plan(warehouse, protocol, testset, lps)
    asked = asked or Slice(testset, chosen[0])
    asked = replace(asked, testset=testset, status="all" if all_metrics else "primary")
    reader = _Reader(blocks or Blocks(warehouse, options), asked)
    read = {  # one language pair after the other, so that what is read of it is there for the next rule
        (place, lp): reader.tasks(rule, lp, protocol.outliers_of(rule, testset, lp))
        for lp in chosen
        for place, rule in enumerate(protocol.rules)
    }
    by_rule = [[(lp, *read[place, lp]) for lp in chosen] for place in range(len(protocol.rules))]
    entered = [tuple(block for _, blocks, _ in one for block in blocks) for one in by_rule]
    faults = [(name, lp, error) for one in by_rule for lp, _, absent in one for name, error in absent]
    if faults and not any(entered):
        raise faults[0][2]
    return Entry(
        protocol,
        testset,
        tuple(chosen),
        tuple(entered),
        tuple(DroppedTask(name, lp, error.text) for name, lp, error in faults),
        (*notes, *_on_outliers(protocol, testset, chosen), *_unchecked(protocol, testset)),
    )


def _on_outliers(protocol: Protocol, testset: str, lps: Sequence[str]) -> list[str]:
    """A note on language pairs whose outliers differ from those in the organisers' later toolkit."""
    own = [lp for lp in lps if lp in protocol.outliers and testset == protocol.name]
    return [f"{', '.join(own)}: outlier systems are those of the {protocol.outliers_source}"] if own else []


def _unchecked(protocol: Protocol, testset: str) -> list[str]:
    """A note on published numbers of a protocol on a test set that could not be checked."""
    try:
        is_its_own = protocol_named(testset) == protocol
    except QuestionError:
        is_its_own = False
    return [f"{protocol.name}: {protocol.unchecked}"] if protocol.unchecked and is_its_own else []


class Blocks:
    """Blocks of a warehouse, each read once; if there is none, the reason is kept."""

    def __init__(self, warehouse: Warehouse, options: Options) -> None:
        self._warehouse = warehouse
        self._round_human = options.round_human
        self._inputs: dict[Slice, Inputs] = {}
        self._absent: dict[tuple[Slice, bool, bool, bool], QuestionError] = {}

    @cached_property
    def _with_preferences(self) -> set[tuple[str, str, str]]:
        return {*ask(self._warehouse, "preference_scorers").select("testset", "lp", "scorer").iter_rows()}

    def has_preferences(self, asked: Slice) -> bool:
        """Whether a slice's segment-level human score consists of preferences."""
        try:
            human = self._of_slice(asked).of_level("seg").selection.human
        except QuestionError:
            return False
        return (asked.testset, asked.lp, stored_human(str(human))) in self._with_preferences

    def _of_slice(self, asked: Slice) -> Inputs:
        if asked not in self._inputs:
            self._inputs[asked] = Inputs(self._warehouse, asked, self._round_human)
        return self._inputs[asked]

    def block(self, measure: Measure, asked: Slice) -> Block:
        """The block of a slice on which a measure is computed.

        Raises QuestionError: there is no human score, or nothing is left.
        """
        needs = measure.definition
        place = asked, needs.needs_segments, needs.needs_spans, needs.needs_preferences
        if place in self._absent:
            raise self._absent[place].with_traceback(None)
        try:
            return self._of_slice(asked).block(measure)
        except QuestionError as error:
            self._absent[place] = error
            raise


class _Reader:
    """Reads the blocks that the rules of one protocol need."""

    def __init__(self, blocks: Blocks, asked: Slice) -> None:
        self._blocks = blocks
        self._asked = asked

    def applies(self, rule: Rule, lp: str) -> bool:
        """Whether a rule applies to a language pair, by its kind of human score (rankings or segment scores)."""
        if rule.human == "any":
            return True
        return self._blocks.has_preferences(replace(self._asked, lp=lp)) == (rule.human == "preferences")

    def tasks(self, rule: Rule, lp: str, outliers: Outliers) -> tuple[list[TaskBlock], list[tuple[str, QuestionError]]]:
        """The blocks of a rule in one language pair, and why some of its tasks have none."""
        found: list[TaskBlock] = []
        absent: list[tuple[str, QuestionError]] = []
        if not self.applies(rule, lp):
            return found, absent
        try:
            variants = self.variants(rule, lp, outliers)
        except QuestionError as error:
            return found, [(task_named(rule), error)]
        for one, domain in variants:
            try:
                found.append(self.entered(rule, one, domain))
            except QuestionError as error:
                absent.append((task_named(rule, domain), error))
        return found, absent

    def variants(self, rule: Rule, lp: str, outliers: Outliers) -> list[tuple[Slice, str | None]]:
        """The tasks of a rule in one language pair: its domains (None = all), without and with human references.

        Raises QuestionError: there is no human score, or nothing is left.
        """
        asked = replace(self._asked, lp=lp, with_outliers=outliers == "none")
        whole = self._blocks.block(rule.measure, asked)
        domains: list[str | None] = [None]
        if rule.domains == "each":
            domains += sorted({domain for domain in whole.selection.domains if domain is not None})
        references: list[bool | None] = [None if rule.human_references == "organisers" else False]
        if rule.human_references == "both":
            without, with_them = (
                self._blocks.block(rule.measure, replace(asked, human_references=use)) for use in (False, True)
            )
            references += [True] if len(with_them.systems) > len(without.systems) else []
        return [
            (replace(asked, domain=() if domain is None else (domain,), human_references=use), domain)
            for domain in domains
            for use in references
        ]

    def entered(self, rule: Rule, asked: Slice, domain: str | None) -> TaskBlock:
        """The block of one task, or of a part of a pooled one.

        Raises QuestionError: nothing is left.
        """
        block = self._blocks.block(rule.measure, asked)
        absent: dict[str, Exclusion] = {}
        selection = block.selection
        for choice in sorted(selection.metrics, key=lambda one: one.reference in (None, selection.reference)):
            if choice.reason is not None:  # the variant that would be scored comes last, and its reason counts
                absent[choice.base_name] = choice.reason
        outliers: Outliers = "none" if asked.outliers == "none" else "organisers"
        return TaskBlock(asked.lp, block, absent, domain, asked.human_references, outliers)
