"""The slice: which systems, metrics and segments of an evaluation set are included, and why the others are not."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from queries import catalog, evalsets
from queries.evalsets import BY_ANNOTATOR, HumanUse, challenge_sets, evalset_id, stored_human, without_grades
from queries.reasons import Exclusion, Reason, by_reason
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT, unknown
from warehouse.facts.issues import optimised_in
from warehouse.facts.languages import pairs_called
from warehouse.wording import counted, option

Level = Literal["seg", "sys"]
Outliers = Literal["organisers", "mad", "none"]


Scored = Literal["seg", "doc"]
"""What has scores and is judged: segments or documents."""

Place = tuple[int, str | None, str | None, str | None]
"""A segment, or a document: its number, domain, document and phenomenon."""


@dataclass(frozen=True)
class Slice:
    """What a user asks for; the defaults are the organisers'.

    human: human score; None for the official one; NAME:z for one standardised by annotator. reference: that metrics
    compared with; None for the official one.
    domains, documents, phenomena, systems, metrics: names or shell patterns; empty for all. segments: first and last
        number.
    without_optimised: systems that a metric selected or trained are excluded.
    level: whether segments are scored, or documents, which then stand wherever segments are named.
    only: "reference-based" or "reference-free" metrics, or None for both. primary: primary and baseline metrics only.
    human_references: rank extra human references too; None as the organisers did. outliers: which systems are
        excluded as outliers: those of the organisers' list, those of the MAD rule (applied where scores are known), or
        none.
    own: metrics that users added are included. all_metrics: those not submitted to the metrics task, too.
    intersection: instead of excluding a metric with missing scores, restrict everything to what all have.
    A metric named exactly in `metrics` is included whatever its status, and whatever reference it compared with.
    """

    testset: str
    lp: str
    human: str | None = None
    reference: str | None = None
    domains: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    phenomena: tuple[str, ...] = ()
    segments: tuple[int, int] | None = None
    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    only: str | None = None
    primary: bool = False
    human_references: bool | None = None
    outliers: Outliers = "organisers"
    own: bool = False
    all_metrics: bool = False
    intersection: bool = False
    level: Scored = "seg"
    without_optimised: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "lp", pairs_called(self.lp))

    @property
    def is_whole(self) -> bool:
        """Whether it has all segments."""
        return not self.domains and not self.documents and not self.phenomena and self.segments is None

    def check_level(self) -> None:
        """Raises QuestionError: documents are restricted by what only segments have."""
        if self.level == "doc" and (self.phenomena or self.segments is not None):
            raise QuestionError(f"{option('level', 'doc')} is of whole documents: no {option('segments')} or phenomena")
        if self.level == "doc" and self.human is not None and self.human.endswith(BY_ANNOTATOR):
            raise QuestionError(f"{self.human} is of segments: judgements of documents are not standardised")


@dataclass(frozen=True)
class SystemChoice:
    """A system, and why it is excluded (None where it is not)."""

    system_id: int
    name: str
    kind: str
    reason: Exclusion | None


@dataclass(frozen=True)
class MetricVariant:
    """A metric with the reference that it used, as it was submitted.

    is_own: the user's. is_derived: its scores are those of its error spans, the fewer the better.
    """

    scorer_id: int
    name: str
    base_name: str
    reference: str | None
    status: str | None
    is_own: bool
    is_derived: bool


@dataclass(frozen=True)
class MetricChoice(MetricVariant):
    """A metric variant, and why it is excluded (None where it is not).

    segment_gap: why its segment scores alone would exclude it; None where all systems have some.
    """

    segment_gap: Exclusion | None
    reason: Exclusion | None

    @classmethod
    def made_up(cls, name: str, scorer_id: int = 0) -> "MetricChoice":
        """A metric that no warehouse holds, with scores of all segments. scorer_id: what tells several apart."""
        return cls(scorer_id, name, name, None, None, is_own=False, is_derived=False, segment_gap=None, reason=None)

    @property
    def has_segments(self) -> bool:
        """Whether all systems have scores of segments."""
        return self.segment_gap is None


@dataclass(frozen=True)
class Holdings:
    """What an evaluation set has, whatever slice of it is asked for.

    standard_*: the official reference and human scores. humans: identifiers by name. scored: the systems that have
    scores, by kind, name and level of the scorer. metrics, systems: by name; a system has its identifier, name, kind
    and whether it is a listed outlier. segments: in test-set order.
    """

    standard_reference: str | None
    standard_seg: str | None
    standard_sys: str | None
    standard_doc: str | None
    ranks_references: bool
    humans: Mapping[str, int]
    scored: Mapping[tuple[str, str, str], set[str]]
    metrics: tuple[MetricVariant, ...]
    systems: tuple[tuple[int, str, str, bool], ...]
    segments: tuple[Place, ...]


@dataclass(frozen=True)
class Selection:
    """A slice, resolved: every system and metric of the evaluation set, included or not; sorted by name.

    human, human_id: None where the slice does without a human score. segments: numbers of those included, in test-set
    order, with their domains and documents. n_segments: of the whole evaluation set. notes: what a reader should know.
    """

    slice: Slice
    evalset_id: int
    human: str | None
    human_id: int | None
    reference: str | None
    systems: tuple[SystemChoice, ...]
    metrics: tuple[MetricChoice, ...]
    segments: tuple[int, ...]
    domains: tuple[str | None, ...]
    documents: tuple[str | None, ...]
    n_segments: int
    notes: tuple[str, ...] = field(default=())

    @property
    def is_by_annotator(self) -> bool:
        """Whether human scores are judgements standardised by annotator."""
        return self.human is not None and self.human.endswith(BY_ANNOTATOR)

    @property
    def chosen_systems(self) -> tuple[SystemChoice, ...]:
        return tuple(choice for choice in self.systems if choice.reason is None)

    @property
    def chosen_metrics(self) -> tuple[MetricChoice, ...]:
        return tuple(choice for choice in self.metrics if choice.reason is None)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def select(
    warehouse: Warehouse,
    asked: Slice,
    level: Level = "seg",
    *,
    human: HumanUse = "required",
    also: Sequence[str] = (),
) -> Selection:
    """Resolve a slice.

    level: the level whose official human score is the default. Where it has none that is loaded, the only human score
    there is stands in, with a note. human: where it is "optional" and there is none to take, or "none", the slice has
    none, and systems need not be judged. also: metrics included beside those of the slice, whatever their status.
    Raises QuestionError: an unknown test set, language pair, human score or reference, a pattern that matches nothing,
        no human score found and none named, or nothing left.
    """
    asked.check_level()
    number = evalset_id(warehouse, asked.testset, asked.lp)
    where = f"{asked.testset} {asked.lp}"
    found = warehouse.once((Holdings, number), lambda: _holdings(warehouse, number))
    by_level = {"seg": found.standard_seg, "doc": found.standard_doc, "sys": found.standard_sys or found.standard_seg}
    official = by_level[asked.level if level == "seg" else level]
    if human == "required" and not found.humans and challenge_sets(warehouse, asked.testset):
        raise without_grades(asked.testset)
    chosen_human, notes = evalsets.human_score(found.humans, asked.human, official, human, where)
    stored = None if chosen_human is None else stored_human(chosen_human)
    if stored is not None and stored != chosen_human:
        notes = (*notes, _standardised(warehouse, number, found.humans[stored], stored, where))
    translations = [name for _, name, kind, _ in found.systems if kind == "human"]
    used = {one.reference for one in found.metrics if one.reference is not None}
    reference, of_reference = evalsets.reference(where, asked.reference, found.standard_reference, used, translations)
    places = found.segments if asked.level == "seg" else _scored_documents(warehouse, number, where)
    segments = _choose_segments(places, asked, where)
    systems = _choose_systems(found, asked, stored, reference, where)
    chosen = [choice for choice in systems if choice.reason is None]
    metrics = _choose_metrics(found, asked, also, reference, chosen, where)
    return Selection(
        slice=asked,
        evalset_id=number,
        human=chosen_human,
        human_id=None if stored is None else found.humans[stored],
        reference=reference,
        systems=tuple(systems),
        metrics=tuple(metrics),
        segments=tuple(row[0] for row in segments),
        domains=tuple(row[1] for row in segments),
        documents=tuple(row[2] for row in segments),
        n_segments=len(places),
        notes=(
            *(["documents stand in the place of segments"] if asked.level == "doc" else []),
            *_beyond(asked.segments, places),
            *(*notes, *of_reference, *_matched_in_vain(asked, metrics)),
        ),
    )


def _standardised(warehouse: Warehouse, number: int, human_id: int, human: str, where: str) -> str:
    """What standardising by annotator counts, in a line.

    Raises QuestionError: there is nothing to standardise.
    """
    (row,) = catalog.ask(warehouse, "unstandardised", evalset=number, human=human_id).rows(named=True)
    if not row["n_standardised"]:
        raise QuestionError(f"{human} of {IT} has no judgements of known annotators, so no z", where=where)
    judgements, annotators = counted(row["n_standardised"], "judgement"), counted(row["n_annotators"], "annotator")
    line = f"{human} standardised by annotator: {judgements}, {annotators}"
    if row["n_without_spread"]:
        line += f"; without {row['n_without_spread']} of {row['n_annotators_without']} with one judgement or no spread"
    return line + (f"; without {row['n_unknown']} of unknown annotators" if row["n_unknown"] else "")


def _holdings(warehouse: Warehouse, number: int) -> Holdings:
    """What an evaluation set has; of its own rows, where the views group those of all."""
    ((standard_reference, standard_seg, standard_sys, standard_doc, ranks_references),) = warehouse.rows(
        """
        SELECT
          standard_reference, standard_human_seg, standard_human_sys, standard_human_doc, ranks_human_references
        FROM evalset
        WHERE evalset_id = $evalset
        """,
        {"evalset": number},
    )
    humans: dict[str, int] = {}
    scored: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for row in catalog.ask(warehouse, "coverage", evalset=number).rows(named=True):
        if row["kind"] == "human":
            humans[row["scorer"]] = row["scorer_id"]
        if row["n_values"]:
            scored[row["kind"], row["scorer"], row["level"]].add(row["system"])
    metrics = warehouse.rows(
        """
        SELECT
          sc.scorer_id, sc.name, sc.base_name, sc.reference, n.status, coalesce(n.is_own, false), bool_or(v.is_derived)
        FROM vector AS v
        JOIN scorer AS sc ON sc.scorer_id = v.scorer_id AND sc.kind = 'metric'
        LEFT JOIN entry AS n ON n.evalset_id = v.evalset_id AND n.scorer_id = v.scorer_id
        WHERE v.evalset_id = $evalset
        GROUP BY ALL
        """,
        {"evalset": number},
    )
    systems = warehouse.rows(
        "SELECT system_id, name, kind, is_outlier FROM system WHERE evalset_id = $evalset", {"evalset": number}
    )
    segments = warehouse.rows(
        """
        SELECT segment, domain, document, phenomenon
        FROM segment
        WHERE evalset_id = $evalset
        ORDER BY position NULLS LAST, document, index_in_document, segment
        """,
        {"evalset": number},
    )
    return Holdings(
        standard_reference=standard_reference,
        standard_seg=standard_seg,
        standard_sys=standard_sys,
        standard_doc=standard_doc,
        ranks_references=bool(ranks_references),
        humans=humans,
        scored=scored,
        metrics=tuple(sorted((MetricVariant(*row) for row in metrics), key=lambda one: one.name)),
        systems=tuple(sorted(systems, key=lambda row: str(row[1]))),
        segments=tuple(segments),
    )


def _scored_documents(warehouse: Warehouse, number: int, where: str) -> Sequence[Place]:
    rows: list[Place] = catalog.ask(warehouse, "scored_documents", evalset=number).rows()
    if not rows:
        raise QuestionError(f"no scores of documents of {IT}", where=where)
    return rows


def _choose_segments(rows: Sequence[Place], asked: Slice, where: str) -> Sequence[Place]:
    asked_for = {"domain": asked.domains, "document": asked.documents, "phenomenon": asked.phenomena}
    for column, (kind, patterns) in enumerate(asked_for.items(), start=1):
        names = {str(name) for row in rows if (name := row[column]) is not None}
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in (*names, *([""] if len(names) < len(rows) else []))):
                raise unknown(kind, pattern, names, where=where)
    if asked.is_whole:
        return rows
    first, last = asked.segments or (None, None)
    chosen = [
        row
        for row in rows
        if all(_matches(str(row[at] or ""), patterns) for at, patterns in enumerate(asked_for.values(), start=1))
        and (first is None or last is None or first <= row[0] <= last)
    ]
    if rows and not chosen:
        flags = ", ".join(map(option, ("domain", "document", "phenomenon")))
        raise QuestionError(f"{flags} and {option('segments')} select no segment of {IT}", where=where)
    return chosen


def _beyond(asked: tuple[int, int] | None, places: Sequence[Place]) -> list[str]:
    """A line where segments are asked for behind the last one."""
    last = max((place[0] for place in places), default=0)
    return [f"there is no segment {asked[1]}: the last is {last}"] if asked is not None and asked[1] > last else []


def _choose_systems(
    found: Holdings, asked: Slice, human: str | None, reference: str | None, where: str
) -> list[SystemChoice]:
    judged = {
        system
        for (kind, scorer, _), systems in found.scored.items()
        if (kind == "metric" if human is None else (kind, scorer) == ("human", human))
        for system in systems
    }
    for pattern in asked.systems:
        if not any(_matches(name, [pattern]) for _, name, _, _ in found.systems):
            raise unknown("system", pattern, {name for _, name, _, _ in found.systems}, where=where)
    with_references = found.ranks_references if asked.human_references is None else asked.human_references

    optimised = {one.system: one.how for one in optimised_in(asked.testset)} if asked.without_optimised else {}

    def reason(name: str, kind: str, is_outlier: bool) -> Exclusion | None:
        if not _matches(name, asked.systems):
            return Exclusion(Reason.NOT_SELECTED)
        if name not in judged:
            return Exclusion(Reason.NOT_JUDGED, (human or "any metric",))
        if name == reference:
            return Exclusion(Reason.IS_REFERENCE)
        if name in optimised:
            return Exclusion(Reason.OPTIMISED, (optimised[name],))
        if is_outlier and asked.outliers == "organisers":
            return Exclusion(Reason.LISTED_OUTLIER)
        if kind == "qc":
            return Exclusion(Reason.QUALITY_CONTROL)
        if kind == "human" and not with_references and name not in asked.systems:
            return Exclusion(Reason.HUMAN_TRANSLATION)
        return None

    choices = [
        SystemChoice(system_id, name, kind, reason(name, kind, is_outlier))
        for system_id, name, kind, is_outlier in found.systems
    ]
    if not any(choice.reason is None for choice in choices):
        why, hints = most_common(choices)
        raise QuestionError(f"no system of {IT} remains: {why or 'it has none'}", where=where, hint=hints)
    return choices


def most_common(choices: Sequence[SystemChoice] | Sequence[MetricChoice]) -> tuple[str, tuple[str, ...]]:
    """The commonest reasons why systems or metrics are excluded, such as "3 not selected; 1 reference-free", and hints.

    Reasons that differ in names alone count as one, shown as of the first.
    """
    counts: dict[Reason, list[Exclusion]] = defaultdict(list)
    for choice in choices:
        if choice.reason is not None:
            counts[choice.reason.reason].append(choice.reason)
    ordered = sorted(counts.values(), key=len, reverse=True)
    more = f"; and {counted(len(ordered) - 3, 'more reason')}" if len(ordered) > 3 else ""
    said = (f"with {one}" if one[0].isdigit() else one for one in (found[0].sentence for found in ordered[:3]))
    words = "; ".join(f"{len(found)} {one}" for found, one in zip(ordered, said, strict=False)) + more
    return words, tuple(found[0].hint for found in ordered[:3] if found[0].hint)


def _choose_metrics(
    found: Holdings,
    asked: Slice,
    also: Sequence[str],
    reference: str | None,
    systems: Sequence[SystemChoice],
    where: str,
) -> list[MetricChoice]:
    known = {one.name for one in found.metrics}
    if errors := [
        unknown("metric", pattern, known, where=where)
        for pattern in asked.metrics
        if not any(_matches(one.name, [pattern]) or _matches(one.base_name, [pattern]) for one in found.metrics)
    ]:
        raise errors[0] if len(errors) == 1 else QuestionError("; ".join(one.called(IT) for one in errors), where=where)
    wanted = {choice.name for choice in systems}
    has_lists = any(one.status not in (None, "no entry") for one in found.metrics)
    named = (*asked.metrics, *also)
    choices = []
    for one in found.metrics:
        by_segment = found.scored.get(("metric", one.name, asked.level), set())
        submitted = found.scored.get(("metric", one.name, "sys"), set())
        of_parts = {name for level in ("doc", "domain") for name in found.scored.get(("metric", one.name, level), ())}
        is_named = one.name in named or one.base_name in named
        gap = _segment_gap(wanted, by_segment, asked)
        reason = (
            _filtered(asked, named, one, reference)
            or (None if is_named else _by_status(asked, one.status, one.is_own, has_lists))
            or (gap if asked.level == "doc" else None)
            or _without_scores(wanted, by_segment, submitted, of_parts, asked.intersection)
        )
        choices.append(MetricChoice(**vars(one), segment_gap=gap, reason=reason))
    return choices


def _matched_in_vain(asked: Slice, metrics: Sequence[MetricChoice]) -> list[str]:
    """A line for each status that excludes metrics although a pattern of the slice matches them."""
    if not asked.metrics:
        return []
    excluded = {
        one.name: one.reason
        for one in metrics
        if one.reason is not None and one.reason.reason in (Reason.OWN, Reason.NOT_SUBMITTED)
    }
    return [
        f"{_first_names(set(names))} matched, but excluded: {reason}" for reason, names in by_reason(excluded).items()
    ]


def _filtered(asked: Slice, named: Sequence[str], one: MetricVariant, reference: str | None) -> Exclusion | None:
    """Why its name, or the reference that it used, excludes a metric."""
    if asked.metrics and not (_matches(one.name, named) or _matches(one.base_name, named)):
        return Exclusion(Reason.NOT_SELECTED)
    if one.reference is not None and one.reference != reference and one.name not in named:
        if reference is None:
            return Exclusion(Reason.NO_REFERENCE, (one.reference,))
        return Exclusion(Reason.OTHER_REFERENCE, (one.reference, reference))
    if asked.only == "reference-based" and one.reference is None:
        return Exclusion(Reason.REFERENCE_FREE)
    if asked.only == "reference-free" and one.reference is not None:
        return Exclusion(Reason.REFERENCE_BASED)
    return None


def _by_status(asked: Slice, status: str | None, is_own: bool, has_lists: bool) -> Exclusion | None:
    """Why its status excludes a metric that is not named exactly. has_lists: whether the year kept lists of entries."""
    if is_own:
        return None if asked.own else Exclusion(Reason.OWN)
    if status == "no entry":
        return None if asked.all_metrics else Exclusion(Reason.NOT_SUBMITTED)
    if asked.primary and has_lists and status not in ("primary", "baseline"):
        return Exclusion(Reason.NOT_PRIMARY, (status or "unlisted",))
    return None


def _without_scores(
    wanted: set[str], by_segment: set[str], submitted: set[str], of_parts: set[str], intersection: bool
) -> Exclusion | None:
    """Why a metric is excluded for want of scores: of segments or submitted, whichever it has for more systems.

    of_parts: systems with scores of documents or domains.
    """
    if not by_segment and not submitted and of_parts:
        return Exclusion(Reason.OTHER_LEVELS)
    missing = min(wanted - by_segment, wanted - submitted, key=len)
    if not missing or (intersection and missing != wanted):
        return None
    return Exclusion(Reason.NO_SCORES, (_first_names(missing),))


def _segment_gap(wanted: set[str], by_segment: set[str], asked: Slice) -> Exclusion | None:
    """Which systems a metric has no scores of segments, or documents, for. by_segment: those that it has some for."""
    missing = wanted - by_segment
    if not missing or (asked.intersection and by_segment):
        return None
    none, some = (
        (Reason.NO_DOCUMENT_SCORES, Reason.SOME_DOCUMENT_SCORES)
        if asked.level == "doc"
        else (Reason.NO_SEGMENT_SCORES, Reason.SOME_SEGMENT_SCORES)
    )
    return Exclusion(none) if missing == wanted else Exclusion(some, (_first_names(missing),))


def _first_names(names: set[str]) -> str:
    return ", ".join(sorted(names)[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
