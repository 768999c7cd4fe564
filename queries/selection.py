"""The resolved slice: included systems, metrics and segments of an evaluation set, and reasons for exclusions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from glob import escape
from typing import Any, Literal

from queries import catalog, evalsets
from queries.evalsets import HumanUse, challenge_sets, evalset_id, stored_human, together, without_grades
from queries.reasons import Exclusion, Reason, by_reason
from queries.slices import BY_ANNOTATOR, Slice
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT, unknown
from warehouse.facts.issues import optimised_in
from warehouse.names import in_any_case
from warehouse.wording import are, counted, first_names, option

Level = Literal["seg", "sys"]

_STATUS = (Reason.OWN, Reason.NOT_SUBMITTED)
Place = tuple[int, str | None, str | None, str | None]
"""A segment, or a document: its number, domain, document and phenomenon."""


@dataclass(frozen=True)
class SystemChoice:
    """A system, and why it is excluded (None if included)."""

    system_id: int
    name: str
    kind: str
    reason: Exclusion | None


@dataclass(frozen=True)
class MetricChoice:
    """A metric with its reference and status, and why it is excluded (None if included).

    is_own: added by the user. is_derived: its scores are computed from its error spans. segment_gap: why its segment
    scores would exclude it; None if all systems have some.
    """

    scorer_id: int
    name: str
    base_name: str
    reference: str | None = None
    status: str | None = None
    is_own: bool = False
    is_derived: bool = False
    segment_gap: Exclusion | None = None
    reason: Exclusion | None = None

    @classmethod
    def made_up(cls, name: str, scorer_id: int = 0) -> "MetricChoice":
        """A metric that is not in the warehouse, with scores for all segments. scorer_id: distinguishes several."""
        return cls(scorer_id, name, name)

    @property
    def has_segments(self) -> bool:
        """Whether all systems have segment scores."""
        return self.segment_gap is None


@dataclass(frozen=True)
class Holdings:
    """Contents of an evaluation set, for any slice of it.

    reference, standards: the official reference, and the official human score of each level. humans: identifiers by
    name. scored: the systems with scores, by kind, name and level of the scorer. metrics, systems: by name, before
    exclusions; a system has its identifier, name, kind and whether it is a listed outlier. segments: in test-set order.
    """

    reference: str | None
    standards: Mapping[str, str | None]
    ranks_references: bool
    humans: Mapping[str, int]
    scored: Mapping[tuple[str, str, str], set[str]]
    metrics: tuple[MetricChoice, ...]
    systems: tuple[tuple[int, str, str, bool], ...]
    segments: Sequence[Place]


@dataclass(frozen=True)
class Selection:
    """A slice, resolved: every system and metric of the evaluation set, included or not; sorted by name.

    human, human_id: None if the slice has no human score. segments: numbers of included segments, in test-set order,
    with their domains and documents. n_segments: of the whole evaluation set. notes: for the reader.
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


_OF_SEGMENTS = ("domain", "document", "phenomenon")


def _as_spelt(patterns: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """The patterns; one that matches nothing as typed becomes the names that it matches in any case."""
    known = {*names} if patterns else set()
    found = [
        [one] if any(_matches(name, [one]) for name in known) else [escape(name) for name in in_any_case(one, known)]
        for one in patterns
    ]
    return tuple(
        dict.fromkeys(name for one, alike in zip(patterns, found, strict=True) for name in sorted(alike) or [one])
    )


def _spelt(asked: Slice, found: Holdings, places: Sequence[Place], human: str | None, reference: str | None) -> Slice:
    """The slice with the spelling of its evaluation set; itself if nothing is typed in another case.

    human, reference: the chosen ones.
    """
    spelt: dict[str, Any] = {
        "human": asked.human and (human or asked.human),
        "reference": asked.reference and reference,
        "systems": _as_spelt(asked.systems, (name for _, name, _, _ in found.systems)),
        "metrics": _as_spelt(asked.metrics, (name for one in found.metrics for name in (one.name, one.base_name))),
    }
    for column, kind in enumerate(_OF_SEGMENTS, start=1):
        names = (str(one[column]) for one in places if one[column] is not None)
        spelt[kind] = _as_spelt(getattr(asked, kind), names)
    changed = {name: value for name, value in spelt.items() if value != getattr(asked, name)}
    return replace(asked, **changed) if changed else asked


def select(
    warehouse: Warehouse,
    asked: Slice,
    level: Level = "seg",
    *,
    human: HumanUse = "required",
    also: Sequence[str] = (),
    ranks_reference: bool = False,
) -> Selection:
    """Resolve a slice.

    level: the level whose official human score is the default. If that is not loaded, the only loaded human score is
    used, with a note. human: with "none", or with "optional" if there is no usable human score, the slice has none, and
    systems need no human scores. also: metrics to include in addition, whatever their status. ranks_reference: the
    reference that metrics use is a system like other human references if these are requested or it is named.
    Raises QuestionError: an unknown test set, language pair, human score or reference, a pattern that matches nothing,
        no human score found and none named, or nothing left.
    """
    asked.check_level()
    number = evalset_id(warehouse, asked.testset, asked.lp)
    where = f"{asked.testset} {asked.lp}"
    group = together(warehouse, number)
    found = warehouse.once((Holdings, group), lambda: _holdings(warehouse, group))[number]
    official = found.standards[asked.level if level == "seg" else level]
    if human == "required" and not found.humans and challenge_sets(warehouse, asked.testset):
        raise without_grades(warehouse, asked.testset)
    hint = evalsets.pairs_with_both(warehouse, asked.testset) if human == "required" and not found.humans else ""
    chosen_human, notes = evalsets.human_score(found.humans, asked.human, official, human, where, hint)
    stored = None if chosen_human is None else stored_human(chosen_human)
    if chosen_human is not None and chosen_human.endswith(BY_ANNOTATOR) and stored is not None:
        notes = (*notes, _standardised(warehouse, number, found.humans[stored], stored, where))
    translations = [name for _, name, kind, _ in found.systems if kind == "human"]
    used = {one.reference for one in found.metrics if one.reference is not None}
    reference, of_reference = evalsets.reference(where, asked.reference, found.reference, used, translations)
    is_of_documents = asked.level == "doc"
    places = catalog.ask(warehouse, "scored_documents", evalset=number).rows() if is_of_documents else found.segments
    if is_of_documents and not places:
        raise QuestionError(f"no scores of documents of {IT}", where=where)
    asked = _spelt(asked, found, places, chosen_human, reference)
    also = _as_spelt(also, (name for one in found.metrics for name in (one.name, one.base_name)))
    segments = _choose_segments(places, asked, where)
    systems = _choose_systems(found, asked, stored, reference, where, ranks_reference)
    scored = {choice.name for choice in systems if choice.reason is None}
    metrics = _choose_metrics(found, asked, also, reference, scored, where)
    _, end = asked.span or (0, 0)
    last = max((place[0] for place in places), default=0) if end else 0
    numbers, domains, documents, _ = zip(*segments, strict=True) if segments else ((), (), (), ())
    return Selection(
        slice=asked,
        evalset_id=number,
        human=chosen_human,
        human_id=None if stored is None else found.humans[stored],
        reference=reference,
        systems=tuple(systems),
        metrics=tuple(metrics),
        segments=numbers,
        domains=domains,
        documents=documents,
        n_segments=len(places),
        notes=(
            *(["documents are treated as segments"] if is_of_documents else []),
            *([f"there is no segment {end}: the last is {last}"] if end > last else []),
            *(*notes, *of_reference, *_notes_on_excluded_matches(asked, metrics)),
        ),
    )


def _standardised(warehouse: Warehouse, number: int, human_id: int, human: str, where: str) -> str:
    """A note on the judgements standardised by annotator.

    Raises QuestionError: there is nothing to standardise.
    """
    (row,) = catalog.ask(warehouse, "unstandardised", evalset=number, human=human_id).rows(named=True)
    if not row["n_standardised"]:
        raise QuestionError(f"{human} of {IT} has no judgements of known annotators, so no z", where=where)
    judgements, annotators = counted(row["n_standardised"], "judgement"), counted(row["n_annotators"], "annotator")
    line = f"{human} is standardised by annotator: {judgements}, {annotators}"
    if row["n_without_spread"]:
        n, of = row["n_without_spread"], counted(row["n_annotators_without"], "annotator")
        line += f"; {counted(n, 'judgement')} of {of} with one judgement or no spread {are(n)} excluded"
    n = row["n_unknown"]
    return line + (f"; {counted(n, 'judgement')} of unknown annotators {are(n)} excluded" if n else "")


def _holdings(warehouse: Warehouse, numbers: Sequence[int]) -> dict[int, Holdings]:
    """Contents of evaluation sets, read from their rows only, because the views group the rows of all sets."""
    evalsets = {"evalsets": list(numbers)}
    humans: dict[int, dict[str, int]] = defaultdict(dict)
    metrics: dict[int, dict[str, MetricChoice]] = defaultdict(dict)
    scored: dict[int, dict[tuple[str, str, str], set[str]]] = defaultdict(dict)
    for number, *row in warehouse.rows(catalog.questions()["scorers_of_evalsets"].text, evalsets):
        kind, scorer_id, name, base_name, its_reference, status, is_own, level, is_derived, with_scores = row
        if with_scores:
            scored[number][kind, name, level] = set(with_scores)
        if kind == "human":
            humans[number][name] = scorer_id
        else:
            known = metrics[number]
            is_derived |= name in known and known[name].is_derived
            known[name] = MetricChoice(scorer_id, name, base_name, its_reference, status, is_own, is_derived)
    systems: dict[int, list[tuple[int, str, str, bool]]] = defaultdict(list)
    for number, *system in warehouse.rows(
        """
        SELECT evalset_id, system_id, name, kind, is_outlier
        FROM system
        WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
        """,
        evalsets,
    ):
        systems[number].append(tuple(system))
    segments: dict[int, list[Place]] = defaultdict(list)
    for number, *place in warehouse.rows(
        """
        SELECT evalset_id, segment, domain, document, phenomenon
        FROM segment
        WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
        ORDER BY evalset_id, position NULLS LAST, document, index_in_document, segment
        """,
        evalsets,
    ):
        segments[number].append(tuple(place))
    rows = warehouse.rows(
        """
        SELECT
          evalset_id, standard_reference, standard_human_seg, standard_human_sys, standard_human_doc,
          ranks_human_references
        FROM evalset
        WHERE evalset_id IN (SELECT unnest($evalsets::INTEGER[]))
        """,
        evalsets,
    )
    return {
        number: Holdings(
            reference=reference,
            standards={"seg": of_segments, "sys": of_systems or of_segments, "doc": of_documents},
            ranks_references=bool(ranks_references),
            humans=humans[number],
            scored=scored[number],
            metrics=tuple(metrics[number].values()),
            systems=tuple(sorted(systems[number], key=lambda row: str(row[1]))),
            segments=segments[number],
        )
        for number, reference, of_segments, of_systems, of_documents, ranks_references in rows
    }


def _choose_segments(rows: Sequence[Place], asked: Slice, where: str) -> Sequence[Place]:
    asked_for = {name: getattr(asked, name) for name in _OF_SEGMENTS}
    for column, (kind, patterns) in enumerate(asked_for.items(), start=1):
        names = {str(name) for row in rows if (name := row[column]) is not None} if patterns else set()
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in (*names, *([""] if len(names) < len(rows) else []))):
                raise unknown(kind, pattern, names, where=where)
    if asked.is_whole:
        return rows
    first, last = asked.span or (None, None)
    chosen = [
        row
        for row in rows
        if all(_matches(str(row[at] or ""), patterns) for at, patterns in enumerate(asked_for.values(), start=1))
        and (first is None or last is None or first <= row[0] <= last)
    ]
    if rows and not chosen:
        used = [option(name) for name in _OF_SEGMENTS if asked_for[name]]
        used += [option("segments", asked.segments)] if asked.span else []
        which = "selects" if len(used) == 1 else "together select"
        numbers = f", whose segments are {rows[0][0]} to {rows[-1][0]}" if asked.span else ""
        raise QuestionError(f"{' and '.join(used)} {which} no segment of {IT}{numbers}", where=where)
    return chosen


def _choose_systems(
    found: Holdings, asked: Slice, human: str | None, reference: str | None, where: str, ranks_reference: bool
) -> list[SystemChoice]:
    judged = {
        system
        for (kind, scorer, _), systems in found.scored.items()
        if (kind == "metric" if human is None else (kind, scorer) == ("human", human))
        for system in systems
    }
    if found.systems and human is None and not judged:
        raise QuestionError(f"no metric scores of {IT} are loaded", where=where)
    for pattern in asked.systems:
        if not any(_matches(name, [pattern]) for _, name, _, _ in found.systems):
            raise unknown("system", pattern, {name for _, name, _, _ in found.systems}, where=where)
    with_references = found.ranks_references if asked.human_references is None else asked.human_references
    optimised = {one.system: one.how for one in optimised_in(asked.testset)} if asked.without_optimised else {}
    choices = []
    for system_id, name, kind, is_outlier in found.systems:
        is_ranked = asked.human_references if name == reference else with_references
        is_translation = kind == "human" and not is_ranked and name not in asked.systems
        reason = _first_that_holds(
            (not _matches(name, asked.systems), Exclusion(Reason.NOT_SELECTED)),
            (name not in judged, Exclusion(Reason.NOT_JUDGED, (human or "any metric",))),
            (name == reference and not ranks_reference, Exclusion(Reason.IS_REFERENCE)),
            (name in optimised, Exclusion(Reason.OPTIMISED, (optimised.get(name),))),
            (is_outlier and asked.outliers == "organisers", Exclusion(Reason.LISTED_OUTLIER)),
            (kind == "qc", Exclusion(Reason.QUALITY_CONTROL)),
            (is_translation, Exclusion(Reason.HUMAN_TRANSLATION)),
        )
        choices.append(SystemChoice(system_id, name, kind, reason))
    if not any(choice.reason is None for choice in choices):
        why, hints = most_common(choices)
        raise QuestionError(f"no system of {IT} remains: {why or 'it has none'}", where=where, hint=hints)
    return choices


def _first_that_holds(*reasons: tuple[bool, Exclusion]) -> Exclusion | None:
    holding = [reason for holds, reason in reasons if holds]
    return replace(holding[0], is_only=len(holding) == 1 or not holding[0].hint) if holding else None


def most_common(choices: Sequence[SystemChoice] | Sequence[MetricChoice]) -> tuple[str, tuple[str, ...]]:
    """The most frequent reasons for exclusions, such as "3 not selected; 1 reference-free", and hints.

    Reasons that differ only in names count as one, shown with the first name.
    """
    counts: dict[Reason, list[Exclusion]] = defaultdict(list)
    for choice in choices:
        if choice.reason is not None:
            counts[choice.reason.reason].append(choice.reason)
    ordered = sorted(counts.values(), key=len, reverse=True)
    more = f"; and {counted(len(ordered) - 3, 'more reason')}" if len(ordered) > 3 else ""
    said = (f"with {one}" if one[0].isdigit() else one for one in (found[0].sentence for found in ordered[:3]))
    words = "; ".join(f"{len(found)} {one}" for found, one in zip(ordered, said, strict=False)) + more
    return words, tuple(hint for found in ordered[:3] if (hint := max(one.hint for one in found)))


def _choose_metrics(
    found: Holdings, asked: Slice, also: Sequence[str], reference: str | None, wanted: set[str], where: str
) -> list[MetricChoice]:
    """wanted: the systems that a metric must have scored, with segment or submitted scores.

    User metrics are excluded unless they are named or requested, or there are no others.
    """
    known = {one.name for one in found.metrics}
    if errors := [
        unknown("metric", pattern, known, where=where)
        for pattern in asked.metrics
        if not any(_is_called(one, [pattern]) for one in found.metrics)
    ]:
        raise errors[0] if len(errors) == 1 else QuestionError("; ".join(one.text for one in errors), where=where)
    has_lists = any(one.status not in (None, "no entry") for one in found.metrics)
    has_others = any(not one.is_own for one in found.metrics)
    named = (*asked.metrics, *also)
    choices = []
    for one in found.metrics:
        by_segment, submitted, *parts = (
            found.scored.get(("metric", one.name, level), set()) for level in (asked.level, "sys", "doc", "domain")
        )
        gap = _segment_gap(wanted, by_segment, asked)
        missing = min(wanted - by_segment, wanted - submitted, key=len)  # whichever it has for more systems
        used, status = one.reference, one.status
        is_other = used is not None and used != reference and one.name not in named
        is_named = one.name in named or one.base_name in named
        is_listed = not is_named and not one.is_own
        is_entry = is_listed and status != "no entry"
        is_primary = not (asked.status == "primary" and has_lists) or status in ("primary", "baseline")
        reason = _first_that_holds(
            (bool(asked.metrics) and not _is_called(one, named), Exclusion(Reason.NOT_SELECTED)),
            (is_other and reference is None, Exclusion(Reason.NO_REFERENCE, (used,))),
            (is_other, Exclusion(Reason.OTHER_REFERENCE, (used, reference))),
            (asked.kind == "reference-based" and used is None, Exclusion(Reason.REFERENCE_FREE)),
            (asked.kind == "reference-free" and used is not None, Exclusion(Reason.REFERENCE_BASED)),
            (one.is_own and has_others and not is_named and not asked.user_metrics, Exclusion(Reason.OWN)),
            (is_listed and not is_entry and asked.status != "all", Exclusion(Reason.NOT_SUBMITTED)),
            (is_entry and not is_primary, Exclusion(Reason.NOT_PRIMARY, (status or "unlisted",))),
            (asked.level == "doc" and gap is not None, gap or Exclusion(Reason.NO_DOCUMENT_SCORES)),
            (not by_segment and not submitted and any(parts), Exclusion(Reason.OTHER_LEVELS)),
            (_matters(missing, wanted, asked), Exclusion(Reason.NO_SCORES, (first_names(sorted(missing)),))),
        )
        choices.append(replace(one, segment_gap=gap, reason=reason))
    return choices


def _is_called(one: MetricChoice, patterns: Sequence[str]) -> bool:
    return _matches(one.name, patterns) or _matches(one.base_name, patterns)


def _matters(missing: set[str], wanted: set[str], asked: Slice) -> bool:
    """Whether a metric without scores for these systems is excluded; an intersection needs only some."""
    return bool(missing) and not (asked.intersection and missing != wanted)


def _segment_gap(wanted: set[str], by_segment: set[str], asked: Slice) -> Exclusion | None:
    """Systems without segment (or document) scores from a metric. by_segment: systems with some."""
    missing = wanted - by_segment
    if not missing or (asked.intersection and by_segment):
        return None
    unit = "DOCUMENT" if asked.level == "doc" else "SEGMENT"
    some = Exclusion(Reason[f"SOME_{unit}_SCORES"], (first_names(sorted(missing)),))
    return Exclusion(Reason[f"NO_{unit}_SCORES"]) if missing == wanted else some


def _notes_on_excluded_matches(asked: Slice, metrics: Sequence[MetricChoice]) -> list[str]:
    """A note per status that excludes metrics although a pattern of the slice matches them."""
    lines = by_reason(
        {one.name: one.reason for one in metrics if one.reason is not None and one.reason.reason in _STATUS}
    )
    return [
        f"{first_names(sorted({*names}))} matched, but {are(len({*names}))} excluded: {reason}"
        for reason, names in lines.items()
        if asked.metrics
    ]
