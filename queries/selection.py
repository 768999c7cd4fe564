"""The slice: which systems, metrics and segments of an evaluation set take part, and why the others do not."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from queries import catalog
from warehouse import QuestionError, Warehouse
from warehouse.catalogue import facts, known_testsets
from warehouse.errors import unknown

Outliers = Literal["organisers", "mad", "none"]


@dataclass(frozen=True)
class Slice:
    """What a user asks for; the defaults are the organisers'.

    human: human score; None for the official one. reference: that metrics compared with; None for the official one.
    domains, documents, systems, metrics: shell patterns; empty for all. segments: first and last segment number.
    only: "reference-based" or "reference-free" metrics, or None for both. primary: primary and baseline metrics only.
    human_references: rank extra human references too; None as the organisers did. outliers: which systems are left
        out as outliers: those of the organisers' list, those of the MAD rule (applied where scores are known), or none.
    own: metrics that users added take part. intersection: instead of leaving out a metric that lacks scores of some
        systems or cells, restrict everything to what all have.
    """

    testset: str
    lp: str
    human: str | None = None
    reference: str | None = None
    domains: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    segments: tuple[int, int] | None = None
    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    only: str | None = None
    primary: bool = False
    human_references: bool | None = None
    outliers: Outliers = "organisers"
    own: bool = False
    intersection: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all segments take part."""
        return not self.domains and not self.documents and self.segments is None


@dataclass(frozen=True)
class SystemChoice:
    """A system, and the reason why it takes no part (None where it does)."""

    system_id: int
    name: str
    kind: str
    reason: str | None


@dataclass(frozen=True)
class MetricChoice:
    """A metric variant, and the reason why it takes no part (None where it does).

    is_own: the user's. has_segments: scores of segments of all systems; has_submitted: submitted scores of all systems.
    """

    scorer_id: int
    name: str
    base_name: str
    reference: str | None
    status: str | None
    is_own: bool
    has_segments: bool
    has_submitted: bool
    reason: str | None


@dataclass(frozen=True)
class Selection:
    """A slice, resolved: every system and metric of the evaluation set with its part in it; sorted by name.

    segments: numbers of those that take part, in test-set order, with their domains and documents.
    n_segments: of the whole evaluation set.
    """

    slice: Slice
    evalset_id: int
    human: str
    human_id: int
    reference: str | None
    systems: tuple[SystemChoice, ...]
    metrics: tuple[MetricChoice, ...]
    segments: tuple[int, ...]
    domains: tuple[str | None, ...]
    documents: tuple[str | None, ...]
    n_segments: int
    notes: tuple[str, ...] = field(default=())

    @property
    def chosen_systems(self) -> tuple[SystemChoice, ...]:
        return tuple(choice for choice in self.systems if choice.reason is None)

    @property
    def chosen_metrics(self) -> tuple[MetricChoice, ...]:
        return tuple(choice for choice in self.metrics if choice.reason is None)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def evalset_id(warehouse: Warehouse, testset: str, lp: str) -> int:
    """Identifier of an evaluation set.

    Raises QuestionError: unknown test set or language pair, with the nearest names.
    """
    known = warehouse.rows(
        "SELECT t.name, e.lp, e.evalset_id FROM evalset AS e JOIN testset AS t ON t.testset_id = e.testset_id"
    )
    found = {lp: number for name, lp, number in known if name == testset}
    if not found:
        raise unknown_testset(testset, {name for name, _, _ in known})
    if lp not in found:
        raise unknown_lp(lp, found, testset)
    return int(found[lp])


def unknown_testset(testset: str, loaded: Collection[str]) -> QuestionError:
    """The error for a test set that the warehouse does not have: not loaded, or not known at all."""
    if testset not in known_testsets():
        return unknown("test set", testset, loaded)
    return QuestionError(
        f"test set {testset!r} is not loaded; loaded: {', '.join(sorted(loaded)) or 'none'}; "
        f"`scorehouse load PATH` or `scorehouse download {testset}` brings it in"
    )


def unknown_lp(lp: str, loaded: Collection[str], testset: str) -> QuestionError:
    """The error for a language pair that a test set does not have: not loaded, or not known at all."""
    if lp not in facts(testset).lps:
        return unknown("language pair", lp, loaded, where=testset)
    return QuestionError(
        f"language pair {lp!r} of {testset} is not loaded; loaded: {', '.join(sorted(loaded))}; "
        f"`scorehouse load PATH` or `scorehouse download {testset}` brings it in"
    )


def expand(warehouse: Warehouse, testsets: str, lps: str, human: str | None = None) -> list[tuple[str, str]]:
    """Evaluation sets from names joined by commas; "all" stands for every language pair with the human score wanted.

    human: the human score wanted; None for an official one of systems or segments.
    Raises QuestionError: unknown test set, a language pair that none of the test sets has, or nothing left.
    """
    found: list[tuple[str, str]] = []
    wanted = None if lps == "all" else lps.split(",")
    unseen = set(wanted or ())
    humans: set[str] = set()
    for testset in dict.fromkeys(testsets.split(",")):
        rows = warehouse.rows(
            """
            SELECT
              lp,
              count(*) FILTER (WHERE human = $human OR ($human IS NULL AND is_standard)) > 0,
              list(DISTINCT human)
            FROM humans
            WHERE testset = $testset
            GROUP BY lp
            UNION ALL
            SELECT lp, false, [] FROM evalsets WHERE testset = $testset AND n_humans = 0
            ORDER BY lp
            """,
            {"testset": testset, "human": human},
        )
        if not rows:
            evalset_id(warehouse, testset, wanted[0] if wanted else "all")
        known = [lp for lp, _, _ in rows]
        humans |= {name for _, _, there in rows for name in there}
        chosen = (
            [lp for lp, has_human, _ in rows if has_human] if wanted is None else [lp for lp in wanted if lp in known]
        )
        unseen -= set(chosen)
        found += [(testset, lp) for lp in dict.fromkeys(chosen)]
        if unseen and "," not in testsets:
            raise unknown_lp(min(unseen), known, testset)
    if unseen:
        raise QuestionError(f"language pair {min(unseen)!r} is in none of {testsets}")
    if not found:
        if human is not None:
            raise QuestionError(f"no language pair of {testsets} has human score {human!r}")
        raise QuestionError(
            f"no language pair of {testsets} has an official human score that is loaded; {_choice_of(humans)}"
        )
    return found


def select(warehouse: Warehouse, asked: Slice, level: str = "seg") -> Selection:
    """Resolve a slice.

    level: the level whose official human score is the default, seg or sys.
    Raises QuestionError: an unknown test set, language pair, human score or reference, a pattern that matches nothing,
        no official human score and none named, or nothing left.
    """
    number = evalset_id(warehouse, asked.testset, asked.lp)
    where = f"{asked.testset} {asked.lp}"
    ((standard_reference, standard_seg, standard_sys, ranks_references),) = warehouse.rows(
        """
        SELECT standard_reference, standard_human_seg, standard_human_sys, ranks_human_references
        FROM evalset
        WHERE evalset_id = $evalset
        """,
        {"evalset": number},
    )
    coverage = catalog.ask(warehouse, "coverage", evalset=number).rows(named=True)
    humans = {row["scorer"]: row["scorer_id"] for row in coverage if row["kind"] == "human"}
    official = standard_seg if level == "seg" else standard_sys or standard_seg
    human = asked.human or official
    if human is None or (asked.human is None and human not in humans):
        absent = f"the official human score {official!r} of {where} is not loaded"
        raise QuestionError(f"{absent if official else f'{where} has no official human score'}; {_choice_of(humans)}")
    if human not in humans:
        raise unknown("human score", human, humans, where=where)
    references = {
        name for (name,) in warehouse.rows("SELECT DISTINCT reference FROM metrics WHERE reference IS NOT NULL")
    }
    reference = asked.reference or standard_reference
    if asked.reference is not None and reference not in references:
        raise unknown("reference", asked.reference, references, where=where)
    segments, n_segments = _choose_segments(warehouse, number, asked, where)
    systems = _choose_systems(warehouse, number, asked, human, reference, bool(ranks_references), coverage, where)
    chosen = [choice for choice in systems if choice.reason is None]
    metrics = _choose_metrics(warehouse, asked, reference, chosen, coverage, where)
    return Selection(
        slice=asked,
        evalset_id=number,
        human=human,
        human_id=humans[human],
        reference=reference,
        systems=tuple(systems),
        metrics=tuple(metrics),
        segments=tuple(row[0] for row in segments),
        domains=tuple(row[1] for row in segments),
        documents=tuple(row[2] for row in segments),
        n_segments=n_segments,
    )


def _choice_of(humans: Collection[str]) -> str:
    """The way out where the official human score is not there and none was named."""
    if not humans:
        return "no human score is loaded"
    return f"name one with --human; there are: {', '.join(sorted(humans))}"


def _choose_segments(
    warehouse: Warehouse, number: int, asked: Slice, where: str
) -> tuple[list[tuple[int, str | None, str | None]], int]:
    rows = warehouse.rows(
        """
        SELECT segment, domain, document
        FROM segment
        WHERE evalset_id = $evalset
        ORDER BY position NULLS LAST, document, index_in_document, segment
        """,
        {"evalset": number},
    )
    for kind, place, patterns in (("domain", 1, asked.domains), ("document", 2, asked.documents)):
        for pattern in patterns:
            if not any(fnmatchcase(row[place] or "", pattern) for row in rows):
                raise unknown(kind, pattern, {row[place] for row in rows if row[place] is not None}, where=where)
    first, last = asked.segments or (None, None)
    chosen = [
        row
        for row in rows
        if _matches(row[1] or "", asked.domains)
        and _matches(row[2] or "", asked.documents)
        and (first is None or last is None or first <= row[0] <= last)
    ]
    if rows and not chosen:
        raise QuestionError(f"no segment of {where} is left by --domain, --document and --segments")
    return chosen, len(rows)


def _choose_systems(
    warehouse: Warehouse,
    number: int,
    asked: Slice,
    human: str,
    reference: str | None,
    ranks_references: bool,
    coverage: Sequence[dict[str, object]],
    where: str,
) -> list[SystemChoice]:
    judged = {
        row["system"] for row in coverage if row["scorer"] == human and row["kind"] == "human" and row["n_values"]
    }
    rows = warehouse.rows(
        "SELECT system_id, name, kind, is_outlier FROM system WHERE evalset_id = $evalset", {"evalset": number}
    )
    for pattern in asked.systems:
        if not any(fnmatchcase(row[1], pattern) for row in rows):
            raise unknown("system", pattern, {row[1] for row in rows}, where=where)
    with_references = ranks_references if asked.human_references is None else asked.human_references

    def reason(name: str, kind: str, is_outlier: bool) -> str | None:
        if not _matches(name, asked.systems):
            return "not asked for"
        if name not in judged:
            return f"not judged by {human}"
        if name == reference:
            return "the reference that metrics compared with"
        if is_outlier and asked.outliers == "organisers":
            return "an outlier of the organisers' list (--with-outliers keeps it)"
        if kind == "qc":
            return "text that teaches or checks annotators"
        if kind == "human" and not with_references and name not in asked.systems:
            return "a human translation (--with-human-references ranks it)"
        return None

    choices = [
        SystemChoice(system_id, name, kind, reason(name, kind, is_outlier))
        for system_id, name, kind, is_outlier in sorted(rows, key=lambda row: str(row[1]))
    ]
    if not any(choice.reason is None for choice in choices):
        raise QuestionError(f"no system of {where} is left: none is judged by {human} and asked for")
    return choices


def _choose_metrics(
    warehouse: Warehouse,
    asked: Slice,
    reference: str | None,
    systems: Sequence[SystemChoice],
    coverage: Sequence[dict[str, object]],
    where: str,
) -> list[MetricChoice]:
    rows = warehouse.rows(
        """
        SELECT sc.scorer_id, m.metric, m.base_metric, m.reference, m.status, m.is_own
        FROM metrics AS m
        JOIN scorer AS sc ON sc.kind = 'metric' AND sc.name = m.metric
        WHERE m.testset = $testset AND m.lp = $lp
        ORDER BY m.metric
        """,
        {"testset": asked.testset, "lp": asked.lp},
    )
    for pattern in asked.metrics:
        if not any(fnmatchcase(row[1], pattern) or fnmatchcase(row[2], pattern) for row in rows):
            raise unknown("metric", pattern, {row[1] for row in rows}, where=where)
    scored: dict[tuple[str, str], set[object]] = defaultdict(set)
    for row in coverage:
        if row["kind"] == "metric" and row["n_values"]:
            scored[str(row["scorer"]), str(row["level"])].add(row["system"])
    wanted = {choice.name for choice in systems}
    lists = any(row[4] is not None for row in rows)

    def reason(name: str, base: str, used: str | None, status: str | None, is_own: bool) -> str | None:
        if asked.metrics and not any(fnmatchcase(name, p) or fnmatchcase(base, p) for p in asked.metrics):
            return "not asked for"
        if used is not None and used != reference and name not in asked.metrics:
            return f"compared with {used}, not with the reference {reference}"
        if asked.only == "reference-based" and used is None:
            return "reference-free"
        if asked.only == "reference-free" and used is not None:
            return "reference-based"
        if asked.primary and lists and status not in ("primary", "baseline"):
            return f"{status or 'unlisted'}, neither primary nor baseline"
        if is_own and not asked.own and name not in asked.metrics:
            return "added by a user (--own ranks it)"
        if status == "no entry" and not is_own and name not in asked.metrics:
            return "no entry of the metrics task"
        missing = wanted - scored[name, "seg"]
        missing = min(missing, wanted - scored[name, "sys"], key=len)
        if missing and not (asked.intersection and missing != wanted):
            names = ", ".join(sorted(missing)[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
            return f"no scores for {names}"
        return None

    return [
        MetricChoice(
            scorer_id=scorer_id,
            name=name,
            base_name=base,
            reference=used,
            status=status,
            is_own=is_own,
            has_segments=wanted <= scored[name, "seg"] or (asked.intersection and bool(scored[name, "seg"])),
            has_submitted=wanted <= scored[name, "sys"],
            reason=reason(name, base, used, status, is_own),
        )
        for scorer_id, name, base, used, status, is_own in rows
    ]
