"""Signatures: one line that says what a result is, so that it can be quoted and computed again."""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from metaeval.measures.measure import Measure
    from metaeval.measures.options import Options
    from metaeval.results.evaluation import Evaluation
    from queries.selection import Selection
    from queries.slices import Slice

Part = tuple[str, object]
Parts = list[Part]


@cache
def program_version() -> str:
    """Version of the installed program; 0 if it runs without being installed."""
    try:
        return version("scorehouse")
    except PackageNotFoundError:
        return "0"


def line(parts: Iterable[Part]) -> str:
    """`key:value|key:value`, without the keys whose value is None.

    >>> line([("measure", "pa"), ("seed", None), ("systems", 12)])
    'measure:pa|systems:12'
    """
    return "|".join(f"{key}:{value}" for key, value in parts if value is not None)


def lines_of(parts: Sequence[Part] | Sequence[Sequence[Part]]) -> Sequence[Sequence[Part]]:
    """Parts of a signature line by line, even if there is only one line.

    >>> lines_of([("measure", "pa")]), lines_of([[("measure", "pa")], [("measure", "spa")]])
    ([[('measure', 'pa')]], [[('measure', 'pa')], [('measure', 'spa')]])
    """
    is_line = bool(parts) and isinstance(parts[0][0], str)
    return cast(Sequence[Sequence[Part]], [parts] if is_line else parts)


def stamped(*parts: Part) -> Parts:
    """The parts of the signature of a whole result: these, and the version of the program."""
    return [*parts, ("scorehouse", program_version())]


def signed(*parts: Part) -> str:
    """`stamped` as text."""
    return line(stamped(*parts))


def spelt(parts: Iterable[Part]) -> dict[str, str]:
    """Parts as they are printed, by key.

    >>> spelt([("measure", "pa"), ("seed", None), ("systems", 12)])
    {'measure': 'pa', 'systems': '12'}
    """
    return {key: str(value) for key, value in parts if value is not None}


def joined(signatures: Iterable[Sequence[Part]]) -> list[Parts]:
    """One signature for those of each measure, test and evaluation set; what differs in them is joined by commas."""
    found: dict[tuple[str, ...], dict[str, dict[str, None]]] = {}
    for parts in map(spelt, signatures):
        key = tuple(parts.get(name, "") for name in ("measure", "testset", "lp", "test"))
        for name, value in parts.items():
            found.setdefault(key, {}).setdefault(name, {})[value] = None
    return [[(name, ",".join(values)) for name, values in parts.items()] for parts in found.values()]


def with_test(shown: Sequence[Part], tested: Sequence[Part]) -> tuple[tuple[str, str], ...]:
    """The parts of a value's signature, followed by the additional parts of its test's signature.

    Parts that differ because the test used other inputs than the value are prefixed with `tested_`.

    >>> with_test([("n_metrics", 3)], [("n_metrics", 3), ("test", "perm-both")])
    (('n_metrics', '3'), ('test', 'perm-both'))
    >>> with_test([("n_metrics", 3)], [("n_metrics", 2)])
    (('n_metrics', '3'), ('tested_n_metrics', '2'))
    """
    of_value = spelt(shown)
    more = {key: part for key, part in spelt(tested).items() if of_value.get(key) != part}
    return (*of_value.items(), *((f"tested_{key}" if key in of_value else key, part) for key, part in more.items()))


def references_of(evaluation: "Evaluation") -> str | None:
    """References that the ranked metrics used, joined by +; None if all are reference-free."""
    return "+".join(sorted({metric.reference for metric in evaluation.metrics if metric.reference})) or None


def slice_parts(selection: "Selection", references: str | None = None) -> Parts:
    """Test set, language pair, human score, reference and restrictions of a slice."""
    asked = selection.slice
    reference = references or selection.reference
    return restricted(asked, testset=asked.testset, lp=asked.lp, human=selection.human, reference=reference)


def restricted(
    asked: "Slice", *, testset: str | None, lp: str | None, human: str | None, reference: str | None = None
) -> Parts:
    """The parts of a slice of one evaluation set or several, with all that restricts it.

    testset, lp, human, reference: as they are said of all evaluation sets; reference: None for the selected one.
    """
    return [
        ("testset", testset),
        ("lp", lp),
        ("human", human),
        ("reference", reference or asked.reference),
        ("level", None if asked.level == "seg" else asked.level),
        ("domain", ",".join(asked.domain) or None),
        ("document", ",".join(asked.document) or None),
        ("phenomenon", ",".join(asked.phenomenon) or None),
        ("segments", None if asked.span is None else "-".join(map(str, asked.span))),
        ("systems", ",".join(asked.systems) or None),
        ("metrics", ",".join(asked.metrics) or None),
        ("only", asked.kind),
        ("primary", "yes" if asked.status == "primary" else None),
        ("human_references", None if asked.human_references is None else "in" if asked.human_references else "out"),
        ("outliers", None if asked.outliers == "organisers" else asked.outliers),
        ("optimised", "out" if asked.without_optimised else None),
        ("user_metrics", "in" if asked.user_metrics else None),
        ("all_metrics", "yes" if asked.status == "all" else None),
        ("intersection", "yes" if asked.intersection else None),
    ]


def option_parts(options: "Options") -> Parts:
    """How values are computed, whatever the measure, if not as by the organisers."""
    return [("ties", "raw_floats" if options.raw_ties else None), ("round_human", options.round_human)]


def draw_parts(measure: "Measure", options: "Options") -> Parts:
    """The signature parts of a measure's random draws; none for a measure without any."""
    return [
        ("resamples", measure.n_draws),
        ("seed", options.seed if measure.n_draws else None),
        ("p_value", p_value_convention("greater", plus_one=False) if measure.n_draws else None),
    ]


def interval_in_words(confidence: float, how: str, resample: str, n_draws: int | None, seed: int) -> str:
    """How an interval was computed. resample: what was resampled. n_draws: None if nothing was.

    >>> interval_in_words(0.95, "normal", "inputs", 1000, 0)
    '95%,normal,resamples=1000,resample=inputs,seed=0'
    >>> interval_in_words(0.95, "infinitesimal_jackknife", "inputs", None, 0)
    '95%,infinitesimal_jackknife,resample=inputs'
    """
    if n_draws is None:
        return f"{confidence:.0%},{how},resample={resample}"
    return f"{confidence:.0%},{how},resamples={n_draws},resample={resample},seed={seed}"


def p_value_convention(alternative: str, plus_one: bool, mid_p: bool = False) -> str:
    """How a permutation p-value counts: its side, ties whole (ge) or half (mid), and whether 1 is added.

    >>> p_value_convention("two-sided", plus_one=False)
    'two_sided,ge,uncorrected'
    >>> p_value_convention("two-sided", plus_one=False, mid_p=True)
    'two_sided,mid,uncorrected'
    """
    side = "one_sided" if alternative == "greater" else "two_sided"
    return f"{side},{'mid' if mid_p else 'ge'},{'plus_one' if plus_one else 'uncorrected'}"


def measure_parts(evaluation: "Evaluation", selection: "Selection", options: "Options") -> Parts:
    """The signature parts of one measure over one slice."""
    measure = evaluation.measure
    sources = sorted({source for source in evaluation.system_score if source is not None})
    n_groups = set(evaluation.n_groups[evaluation.n_groups >= 0].tolist())
    n_pairs = set(evaluation.n_pairs[evaluation.n_pairs >= 0].tolist())
    return stamped(
        ("measure", measure),
        *slice_parts(selection, references_of(evaluation)),
        ("n_systems", evaluation.n_systems),
        ("n_metrics", len(evaluation.metrics)),
        ("n_segments", f"{evaluation.n_segments}/{selection.n_segments}"),
        ("n_missing", evaluation.n_missing),
        ("n_groups", _span(n_groups)),
        ("n_pairs", _span(n_pairs)),
        ("n_distinct", evaluation.n_distinct),
        ("system_score", "+".join(sources) or None),
        *evaluation.more_parts,
        *draw_parts(measure, options),
        *option_parts(options),
    )


def _span(values: set[int]) -> str | None:
    if not values:
        return None
    return str(min(values)) if len(values) == 1 else f"{min(values)}-{max(values)}"
