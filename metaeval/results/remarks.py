"""What a reader of any result on a block should know of its metrics and systems."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from metaeval.kernels.arrays.checks import Bools, Floats
from metaeval.measures.system_scores import system_scores
from metaeval.results.inputs import YOUR_OWN, where
from metaeval.results.notes import Decisive, NoteWithHint, hinted
from metaeval.results.sentences import between
from queries.blocks import Block, fetch_block
from queries.findings import Finding, shown_query
from queries.listing import listing
from queries.reasons import Reason
from queries.selection import MetricChoice, Selection, select
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.issues import OptimisedSystem, autoranks, optimised_in
from warehouse.facts.metrics import JUDGES_NOTHING, describe
from warehouse.facts.testsets import facts
from warehouse.wording import counted, option

_CLEARLY = -0.3  # Pearson correlation of system scores below which a sign is in doubt
_FEWEST = 5  # systems
_NEARLY_ALL = 0.95  # of the segments
_ALL_ALIKE = "the same scores for all systems:"
_QUESTION = "wrong sign? (audit compares it with the other metrics)"
"""Kinds of metrics that need not agree with people."""


def all_alike(block: Block) -> list[Decisive]:
    """A line for each metric that scores all systems alike on (nearly) every segment, as one that reads no output does.

    What measures of systems make of it is chance: spa depends on the order of the systems' names.
    """
    found = []
    is_judged = ~np.isnan(block.human)
    place = int(np.argmax(np.count_nonzero(is_judged, axis=0) > 1)) if is_judged.size else 0
    for metric, scores in zip(block.metrics, block.scores, strict=True):
        few = scores[is_judged[:, place], place] if is_judged.size else scores
        if few.size and few.min() < few.max():  # as of almost all metrics, on the first segment
            continue
        there = np.where(is_judged, scores, np.nan)
        known = np.count_nonzero(~np.isnan(there), axis=0) > 1
        if not known.any():
            continue
        n_alike = int((np.nanmin(there[:, known], axis=0) == np.nanmax(there[:, known], axis=0)).sum())
        if n_alike < _NEARLY_ALL * (n := int(known.sum())):
            continue
        text = f"{metric.name}: all systems have the same scores"
        if n_alike == n:
            text += ", so system-level values such as spa are due to chance"
        else:
            text += f" on {n_alike} of {n} segments, so values are due to {counted(n - n_alike, 'segment')} alone"
        found.append(Decisive(text, _ALL_ALIKE, metric.name))
    return found


def without_judgement(metrics: Iterable[tuple[str, str]], notes: Iterable[str]) -> set[str]:
    """Metrics that judge no translation: sentinels, random scores, and those that score all systems alike by the notes.

    metrics: of one evaluation set, names, each with its base name; notes: on that set.
    >>> sorted(without_judgement([("BLEU-ref", "BLEU"), ("sentinel-src-src", "sentinel-src")], []))
    ['sentinel-src-src']
    """
    alike = {note.case for note in notes if isinstance(note, Decisive) and note.kind == _ALL_ALIKE}
    return {name for name, base in metrics if describe(base).kind in JUDGES_NOTHING or name in alike}


def wrong_way(block: Block) -> list[Decisive]:
    """A line for each metric whose system scores clearly fall as the human scores of the block's MT systems rise.

    That is: Pearson's r is below -0.3 over at least five systems. Nothing is turned around.
    The sign of scores that are made of error spans is not in doubt.
    """
    scores = system_scores(block, "submitted")
    kinds = {choice.name: choice.kind for choice in block.selection.systems}
    is_mt = np.array([kinds.get(name, "mt") == "mt" for name in block.systems], dtype=bool)
    is_judged = is_mt & ~np.isnan(scores.human)
    found: list[Decisive] = []
    for metric, values in zip(block.metrics, scores.metrics, strict=True):
        there = is_judged & ~np.isnan(values)
        if there.sum() < _FEWEST or describe(metric.base_name).kind in JUDGES_NOTHING:
            continue
        human, own = (x[there] - x[there].mean() for x in (scores.human, values))
        size = np.linalg.norm(human) * np.linalg.norm(own)
        if size > 0 and (r := np.dot(human, own) / size) < _CLEARLY:
            question = "its scores count its error spans" if metric.is_derived else _QUESTION
            text = (
                f"{metric.name} correlates negatively with {block.selection.human} system scores: {r:.3f} over "
                f"{there.sum()} MT systems; {question}"
            )
            kind = "against human scores, counting error spans:" if metric.is_derived else "wrong sign?"
            found.append(Decisive(text, kind, f"{metric.name} r={r:.3f}", -r))
    return found


_LEAST = 3  # other systems; a line through two has no residuals


def own_choices(selection: Selection, metrics: Sequence[MetricChoice]) -> list[str]:
    """A line on each included system that metrics which are ranked here, or their relatives, selected."""
    return [
        f"{one.system} was made by {one.how}, so it is optimised for {', '.join(judges)} or a related metric"
        for one, judges in _judged(selection, metrics)
    ]


def overrated(block: Block) -> list[str]:
    """A line on the residuals of metrics on systems that they selected, and the option that excludes these systems."""
    if not any(True for _ in _judged(block.selection, block.metrics)):
        return []
    found, others = _residuals(block)
    hint = f"{option('rank.without_optimised', True)} excludes systems optimised for a metric"
    n = counted(others, "system")
    if not found:
        return [
            NoteWithHint(
                "systems optimised for a metric have no residuals: only "
                f"{n} {'was' if others == 1 else 'were'} not optimised",
                hint,
            )
        ]
    parts = "; ".join(f"{metric} {_rates(system, away)}" for metric, system, away in found)
    return [
        NoteWithHint(
            f"{parts}: residuals of the metric's regression on human scores, fitted on {n} not optimised for any "
            "metric",
            hint,
        )
    ]


def _rates(system: str, away: float) -> str:
    """The measured bias of a metric on a system that is optimised for it.

    >>> _rates("NLLB_MBR_BLEU", -1.52)
    'underrates NLLB_MBR_BLEU by 1.52 SD'
    """
    return f"{'underrates' if away < 0 else 'overrates'} {system} by {abs(away):.2f} SD"


def overrating(warehouse: Warehouse, testset: str | None, lp: str | None) -> Iterator[Finding]:
    """How much metrics overrate or underrate the systems that they selected, as findings of the audit.

    testset, lp: see `queries.audit.audit`, which refuses unknown names. Evaluation sets without an official human score
    have none.
    """
    for one, pair in listing(warehouse, "lps").select("testset", "lp").rows():
        wanted = all(asked in (None, "all") or name in asked.split(",") for asked, name in ((testset, one), (lp, pair)))
        if not wanted or not optimised_in(one):
            continue
        try:
            block = fetch_block(warehouse, select(warehouse, Slice(one, pair, status="all"), "sys"))
        except QuestionError:
            continue
        found, n = _residuals(block)
        alike: dict[tuple[str, str, float], list[str]] = {}  # BLEU and bleu are one metric, submitted twice
        for metric, system, away in found:
            alike.setdefault((metric.casefold(), system, round(away, 9)), []).append(metric)
        for (_, system, away), metrics in alike.items():
            text = (
                f"{_rates(system, away)} relative to the other {counted(n, 'system')}; it is optimised for the metric"
            )
            query = shown_query("issues", {"testset": one})
            yield Finding("info", "issues", one, pair, ", ".join(metrics), text, n, away, query)


def _residuals(block: Block) -> tuple[list[tuple[str, str, float]], int]:
    """Metric, system that it or a relative selected, and any residual; and how many systems no metric selected."""
    chosen = {one.system for one in optimised_in(block.selection.slice.testset)}
    others: Bools = np.array([name not in chosen for name in block.systems])
    scores = system_scores(block, "submitted")
    places = {metric.name: place for place, metric in enumerate(block.metrics)}
    found = [
        (metric, one.system, residual(scores.human, scores.metrics[places[metric]], others, at))
        for one, judges in _judged(block.selection, block.metrics)
        for at in [block.systems.index(one.system)]
        for metric in judges
    ]
    return [row for row in found if not np.isnan(row[2])], int(others.sum())


def residual(human: Floats, metric: Floats, others: Bools, at: int) -> float:
    """How far a metric's score of one system lies above its least-squares line on human scores over other systems.

    human, metric: (n_systems,) system scores, NaN = missing; others: (n_systems,), whom the line is fitted to; at: the
    system. In standard deviations of the residuals of the others, with n − 2 degrees of freedom; positive: overrated.
    NaN: fewer than three others, equal human scores, a line without residuals, or a missing score of the system.

    >>> human, metric = np.array([0.0, 1.0, 2.0, 3.0, 1.0]), np.array([0.0, 2.0, 1.0, 3.0, 4.0])
    >>> round(residual(human, metric, np.array([True] * 4 + [False]), 4), 4)
    3.0569
    """
    kept = others & ~np.isnan(human) & ~np.isnan(metric)
    x, y = human[kept], metric[kept]
    if len(x) < _LEAST or np.ptp(x) == 0:
        return float("nan")
    slope = float((x - x.mean()) @ (y - y.mean()) / ((x - x.mean()) @ (x - x.mean())))
    errors = y - y.mean() - slope * (x - x.mean())
    spread = float(np.sqrt(errors @ errors / (len(x) - 2)))
    if spread <= 1e-12 * float(np.abs(y).max()):
        return float("nan")
    return float(metric[at] - y.mean() - slope * (human[at] - x.mean())) / spread


def _judged(selection: Selection, metrics: Sequence[MetricChoice]) -> Iterator[tuple[OptimisedSystem, list[str]]]:
    """Included systems that metrics selected, each with the metrics of the same family."""
    testset = selection.slice.testset
    there = {choice.name for choice in selection.chosen_systems}
    for one in optimised_in(testset):
        if one.system not in there or selection.human is None:
            continue
        year = facts(testset).year
        judges = [metric.name for metric in metrics if describe(metric.base_name, year).family in one.families]
        if judges:
            yield one, judges


def remarks(block: Block) -> list[str]:
    """What a reader of any result on a block should know, one line each."""
    of_metrics = (*equal_metrics(block), *all_alike(block), *wrong_way(block))
    return [*slice_remarks(block.selection, block.metrics), *_incomplete_design(block), *of_metrics]


def _incomplete_design(block: Block) -> list[str]:
    """A line if segments have different systems: outputs with neither human nor metric scores."""
    if not len(block.metrics) or block.counted is not None:
        return []
    there = block.judged | ~np.isnan(block.scores).all(axis=0)
    there = there[:, block.judged.any(axis=0)]
    if there.all() or not there.size:
        return []
    each = there.sum(axis=0)
    return [
        f"the design is incomplete, with {there.sum()} of {there.size} outputs: segments have "
        f"{between(each.tolist(), 0)} of {len(block.systems)} systems, so systems are compared on different segments"
    ]


def slice_remarks(selection: Selection, metrics: Sequence[MetricChoice]) -> list[str]:
    """What can be remarked on a selection, and those of its metrics that are used, without their scores."""
    return [
        *selection.notes,
        *_own_metrics(selection, metrics),
        *_reference_without_metrics(selection, metrics),
        *_chosen_by_metrics(selection),
        *own_choices(selection, metrics),
    ]


def _own_metrics(selection: Selection, metrics: Sequence[MetricChoice]) -> list[str]:
    """A line that names the user's own metrics among those included, and one for each with something missing."""
    own = [metric.name for metric in metrics if metric.is_own]
    are_all = all(choice.is_own for choice in selection.metrics)
    is_said = not own or any(note.startswith(YOUR_OWN) for note in selection.notes)
    lines = [] if is_said else [f"{YOUR_OWN}{' (there are no others)' if are_all else ''}: {', '.join(own)}"]
    if selection.slice.user_metrics:
        lines += [
            hinted(f"your own {choice.name} is excluded: {choice.reason.sentence}", choice.reason.hint)
            for choice in selection.metrics
            if choice.is_own and choice.reason and choice.reason.reason is not Reason.NOT_SELECTED
        ]
    return lines


def _reference_without_metrics(selection: Selection, metrics: Sequence[MetricChoice]) -> list[str]:
    """A line if a reference was requested that no metric used."""
    asked = selection.slice
    if asked.reference is None or any(metric.reference == asked.reference for metric in metrics):
        return []
    scored = sorted({choice.reference for choice in selection.metrics if choice.reference is not None})
    left = "" if any(metric.reference for metric in metrics) else ", so only reference-free ones are left"
    return [
        Decisive(
            f"no included metric uses reference {asked.reference}{left}; "
            f"{where(selection)} has metrics with {', '.join(scored) or 'no reference at all'}"
        )
    ]


def _chosen_by_metrics(selection: Selection) -> list[str]:
    """A line if metrics chose the systems that were judged."""
    testset = selection.slice.testset
    if selection.human is None or testset not in autoranks():
        return []
    return [f"the annotated systems of {testset} were selected by AutoRank, a mean of metrics (`scorehouse autorank`)"]


def equal_metrics(block: Block) -> list[str]:
    """A line for each set of metrics whose segment scores are the same to the last bit."""
    seen: dict[bytes, list[str]] = {}
    for metric, scores in zip(block.metrics, block.scores, strict=True):
        if metric.has_segments:
            seen.setdefault(scores.tobytes(), []).append(metric.name)
    twins = [names for names in seen.values() if len(names) > 1]
    return [
        Decisive(f"{' and '.join(names)} have exactly the same scores", "exactly the same scores:", " = ".join(names))
        for names in twins
    ]
