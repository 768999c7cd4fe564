"""Which metric the evidence of all years favours: each evaluation set's best metrics, the newest set first."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import EQUAL
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, TestOptions
from metaeval.results.answer import Result, attributes, fixed, or_none
from metaeval.results.notes import Partial, placed, reasons
from metaeval.results.run import Run
from metaeval.results.signature import Part
from metaeval.results.study import SliceResult
from metaeval.studies.ranking.intervals import Intervals, intervals
from metaeval.studies.ranking.rankings import RankingInputs, load_ranking_inputs, named, on_few_metrics, ranked
from metaeval.studies.significance.comparison import Comparison
from queries.catalog import ask
from queries.slices import Slice
from warehouse import QuestionError
from warehouse.wording import counted

BEST = "✓"
COST = "cost: ref says whether a metric needs a reference, kind what it is made of; model sizes are unknown"
SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("testset", "lp"), pl.String),
    "year": pl.Int64,
    **dict.fromkeys(("human", "metric", "base_metric", "family", "version", "kind"), pl.String),
    "needs_reference": pl.Boolean,
    **dict.fromkeys(("value", "low", "high", "p"), pl.Float64),
    "is_among_best": pl.Boolean,
    **dict.fromkeys(("n_systems", "n_segments"), pl.Int64),
    "signature": pl.String,
}


def advice(run: Run, asked: Slice, measure: Measure, testing: TestOptions, *, fresh: bool = False) -> Result:
    """The metrics of each evaluation set that has evidence, with what is known of their cost.

    asked: its test set and language pair may be several, or "all". Metrics that judge no translation (sentinels, random
    scores, the same scores for all systems) are excluded.
    Columns: testset, lp, year, human, metric, base_metric, family, version, kind, needs_reference, value, low and high
    (its 95% interval), p (two-sided, that it differs from the best of its set; null for that one), is_among_best (its
    value is the best, or p > alpha), n_systems, n_segments, signature; the newest set first, then the best metric.
    Facts: generalises_to, in words for each evaluation set; details, notes on single evaluation sets.
    Raises QuestionError: as `load_ranking_inputs`; no metric is tested.
    """
    options = Options()
    ends = partial(intervals, options=options, n_draws=testing.resamples, unit=testing.unit)
    found = load_ranking_inputs(run, asked, [measure], options, testing, fresh=fresh, also=(ends,))
    with run.opened() as warehouse:
        facts = {
            (one.testset, one.lp): ask(warehouse, "metric_names", testset=one.testset, lp=one.lp).rows_by_key(
                "metric", named=True, unique=True
            )
            for one in found.studies
        }
    table = ranked(found)
    tested: dict[Slice, Comparison] = dict(table.facts["comparisons"])
    rows: list[dict[str, Any]] = []
    parts: list[Sequence[Part]] = []
    for one, of_set in found.evalsets.items():
        if one in tested:
            (result,), ((interval,),) = of_set.study.results, of_set.also
            its_rows = _rows(one, tested[one], result, interval, facts[one.testset, one.lp])
            rows += its_rows
            parts += [[*tested[one].parts, ("value_interval", interval.signed[0] or None)]] if its_rows else []
    if not rows:
        why: dict[str, list[tuple[str, str]]] = {}
        for one, of_set in found.evalsets.items():
            for fault in of_set.tested.values():
                if isinstance(fault, QuestionError):
                    why.setdefault(fault.brief, []).append((one.testset, one.lp))
        raise QuestionError(
            f"no evaluation set has two metrics whose {measure} can be tested{': ' if why else ''}{reasons(why)}"
        )
    frame = pl.DataFrame(rows, schema=SCHEMA).sort(
        *("year", "testset", "lp", "value", "metric"),
        descending=[True, False, False, True, False],
        nulls_last=True,
    )
    there = set(frame.select("testset", "lp").iter_rows())
    populations = {(one.testset, one.lp): test.generalises_to for one, test in tested.items()}
    populations = {place: words for place, words in populations.items() if place in there}
    words = list(dict.fromkeys(populations.values()))
    evidence = [result for one, of in found.studies.items() if (one.testset, one.lp) in there for result in of.results]
    idle = {
        (one.testset, one.lp): [
            name for name, rank in zip(test.names, test.ranks.tolist(), strict=True) if rank and name in test.idle
        ]
        for one, test in tested.items()
    }
    notes = (
        *on_few_metrics(evidence),
        *_partial(found, frame),
        f"{BEST} among the best: not significantly different from the best metric of its set ({' or '.join(words)}; "
        f"two-sided p > {testing.alpha:g}, not corrected); in brackets: 95% interval",
        COST,
        "; ".join(
            f"{testset} {lp}: {counted(n_systems, 'system')}, {counted(n_segments, 'segment')}"
            for testset, lp, n_systems, n_segments in frame.select("testset", "lp", "n_systems", "n_segments")
            .unique(["testset", "lp"], maintain_order=True)
            .iter_rows()
        ),
        *_on_sets(found, frame, asked.kind),
        *(
            placed(" ".join(place), f"not counted, as they judge no translation: {', '.join(idle[place])}")
            for place in dict.fromkeys(frame.select("testset", "lp").iter_rows())
            if idle[place]
        ),
    )
    details = tuple(note for note in table.notes if note not in notes and not isinstance(note, Partial))
    found_facts = {"idle": idle, "generalises_to": populations, "details": frozenset(details)}
    return Result(frame, parts, (*notes, *details), found_facts)


def _rows(
    asked: Slice, tested: Comparison, result: SliceResult, ends: Intervals, facts: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Rows of one evaluation set; none if fewer than two of its metrics judge translations and have a value."""
    names = [choice.name for choice in result.evaluation.metrics]
    there = [
        place
        for place, name in enumerate(tested.names)
        if not np.isnan(tested.values[place]) and name not in tested.idle
    ]
    if len(there) < 2:
        return []
    best, rows = there[0], []
    for place in there:
        name = tested.names[place]
        both = [one for one in (tested.p[best, place], tested.p[place, best]) if not np.isnan(one)]
        p = float(both[0]) if both else None
        at = names.index(name)
        is_first = tested.values[best] - tested.values[place] <= EQUAL
        row = {
            **attributes(asked, "testset", "lp"),
            "human": result.selection.human,
            "metric": name,
            **{key: facts[name][key] for key in ("year", "base_metric", "family", "version", "kind")},
            "needs_reference": not facts[name]["is_reference_free"],
            "value": float(tested.values[place]),
            "low": or_none(ends.low[at]),
            "high": or_none(ends.high[at]),
            "p": p,
            "is_among_best": True if is_first else None if p is None else p > tested.alpha,
            **attributes(result.evaluation, "n_systems", "n_segments"),
            "signature": tested.signature,
        }
        rows.append(row)
    return rows


def _partial(inputs: RankingInputs, frame: pl.DataFrame) -> list[str]:
    """A note if some of the evaluation sets have no evidence."""
    n, n_all = frame.n_unique(["testset", "lp"]), inputs.n_asked
    verb = "has" if n == 1 else "have"
    return [Partial(f"partial: {n} of {n_all} sets {verb} evidence")] if n < n_all else []


def _on_sets(inputs: RankingInputs, frame: pl.DataFrame, kind: str | None) -> list[str]:
    """A line on evaluation sets that are no evidence, and why. kind: that of the requested metrics."""
    there = set(frame.select("testset", "lp").iter_rows())
    why: dict[str, list[tuple[str, str]]] = {}
    for one, of_set in inputs.evalsets.items():
        (result,), (test,) = of_set.study.results, of_set.tested.values()
        names, which = [choice.name for choice in result.evaluation.metrics], f"{kind} metric" if kind else "metric"
        if not result.selection.metrics:
            reason = "no metric is loaded"
        elif not names:
            reason = f"no {which} can be ranked by {result.evaluation.measure}"
        elif len(names) == 1:
            reason = f"only one {which} can be ranked by {result.evaluation.measure}, {names[0]}"
        elif np.isnan(result.evaluation.value).all():
            reason = f"{result.evaluation.measure} is not defined"
        else:
            reason = test.brief if isinstance(test, QuestionError) else f"no two {which}s that can be tested"
        if (one.testset, one.lp) not in there:
            why.setdefault(reason, []).append((one.testset, one.lp))
    return [f"no evidence: {'; '.join(f'{named(of)} ({reason})' for reason, of in why.items())}"] if why else []


def _keyed(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the column key: metrics of several years are the same if they have the same family and version.

    Not if two metrics of one evaluation set have them, such as variants of one submission.
    """
    version = pl.concat_str("family", pl.col("version").fill_null(""), "needs_reference", separator=" ")
    is_shared = pl.struct("testset", "lp", "model").is_duplicated().any().over("model")
    is_known = pl.col("version").is_not_null() & ~is_shared
    return (
        frame.with_columns(model=version)
        .with_columns(key=pl.when(is_known).then("model").otherwise("metric"))
        .drop("model")
    )


def among_best(frame: pl.DataFrame) -> pl.DataFrame:
    """In how many of its evaluation sets each metric is among the best; the metric with most support comes first.

    Those among the best of the newest year come first, then those that are more often among the best than worse, then
    the order of the frame.
    frame: as of `advice`. Columns: key, metric (its newest name), n_best, n_worse (significantly), n_sets, is_newest
    (it is among the best in all of its sets of the newest year), value (in its newest set), years, testsets, lps,
    and sizes (segments) of its sets.
    """
    is_newest = pl.col("year").eq_missing(frame["year"].max())
    best = pl.col("is_among_best")
    return (
        _keyed(frame)
        .group_by("key", maintain_order=True)
        .agg(
            metric=pl.col("metric").first(),
            n_best=best.sum(),
            n_worse=(~best).sum(),
            n_sets=pl.len(),
            is_newest=is_newest.any() & best.filter(is_newest).fill_null(value=False).all(),
            value=pl.col("value").first(),
            years=pl.col("year").drop_nulls().unique().sort(),
            testsets=pl.col("testset"),
            lps=pl.col("lp"),
            sizes=pl.col("n_segments"),
        )
        .sort(~pl.col("is_newest"), pl.col("n_worse").cast(pl.Int64) - pl.col("n_best"), maintain_order=True)
    )


def by_metric(frame: pl.DataFrame) -> pl.DataFrame:
    """The evidence with a row for each metric, and a column for each evaluation set, the newest first.

    frame: as of `advice`. In the order of `among_best`. Columns: metric (its newest name), ref
    (whether it needs a reference), kind, best (in how many of its sets it is among the best), and for each set a text:
    the value with its interval, and a mark if it is among the best.
    """
    ends = pl.format(" [{}, {}]", *(fixed(name, 2) for name in ("low", "high")))
    mark = pl.when("is_among_best").then(pl.lit(f" {BEST}")).otherwise(pl.lit(""))
    cell = pl.concat_str(fixed("value", 3), ends.fill_null(""), mark.fill_null(""))
    has_lps = frame["lp"].n_unique() > 1
    place = pl.concat_str("testset", *(["lp"] if has_lps else []), "human", separator=" ")
    cells = _keyed(frame).select("key", place=place, cell=cell)
    wide = cells.pivot("place", index="key", values="cell", maintain_order=True)
    known = _keyed(frame).unique("key", keep="first", maintain_order=True)
    reference = pl.when("needs_reference").then(pl.lit("yes")).otherwise(pl.lit("no"))
    best = pl.format("{} of {}", "n_best", "n_sets")
    return (
        among_best(frame)
        .select("key", "metric", best=best)
        .join(
            known.select("key", ref=reference, kind=pl.col("kind").fill_null("unknown")),
            on="key",
            how="left",
            maintain_order="left",
        )
        .select("key", "metric", "ref", "kind", "best")
        .join(wide, on="key", how="left", maintain_order="left")
        .drop("key")
    )
