"""Rankings: metrics by measures over one or several evaluation sets, pooled or with clusters on request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from glob import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from metaeval.kernels.arrays.checks import EQUAL
from metaeval.measures.measure import Measure
from metaeval.measures.options import Options, Test, TestOptions
from metaeval.results.answer import Result, table_parts
from metaeval.results.evaluation import Evaluation, lines_on, rankable
from metaeval.results.inputs import Inputs, check_used
from metaeval.results.notes import (
    EXPLAIN,
    Decisive,
    ExclusionNote,
    Partial,
    because,
    few_metrics,
    hinted,
    placed,
    unanswered,
)
from metaeval.results.remarks import without_judgement
from metaeval.results.run import Run
from metaeval.results.signature import Part, joined
from metaeval.results.study import SliceResult, Study, check_ranked, is_ranked, ranking, study
from metaeval.studies.ranking.pooling import Pooling, pool
from queries.evalsets import Evalsets, expand, with_both
from queries.listing import names
from queries.reasons import Exclusion
from queries.selection import MetricChoice, SystemChoice
from queries.slices import Slice
from warehouse import QuestionError, Warehouse
from warehouse.facts.metrics import JUDGES_NOTHING, describe
from warehouse.names import in_any_case
from warehouse.wording import are, every, first_names, option

if TYPE_CHECKING:
    from metaeval.studies.significance.cached import PreparedComparison
    from metaeval.studies.significance.comparison import Comparison

    Tested = tuple[Comparison, Sequence[str]] | QuestionError

By = Literal["domain", "phenomenon"]
UNTESTED = "not tested and in no cluster"


@dataclass(frozen=True)
class RankedEvalset:
    """All that a ranking needs of one evaluation set; it holds no scores.

    study: the results of the measures. tested: by measure, the comparison of the metrics and notes on the store, or why
    there is none; tests: those used. people: the rows of human scores. also: what was also asked of each result.
    """

    study: Study
    tested: "dict[Measure, Tested]"
    tests: tuple[Test, ...]
    people: Result | None
    also: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class RankingInputs:
    """What a ranking is made of.

    evalsets: by slice.
    skipped: lines on evaluation sets, domains or phenomena without an answer.
    n_asked: number of requested evaluation sets.
    measures: those requested, in order.
    options: how it was computed.
    by: the unit that is ranked separately; parts: the inputs of each domain, or phenomenon, which then has the sets.
    """

    evalsets: dict[Slice, RankedEvalset]
    skipped: tuple[str, ...]
    measures: tuple[Measure, ...]
    options: Options = field(default_factory=Options)
    by: By | None = None
    parts: "dict[str, RankingInputs]" = field(default_factory=dict)
    n_asked: int = 0

    @property
    def studies(self) -> dict[Slice, Study]:
        return {asked: one.study for asked, one in self.evalsets.items()}


def slices_of(warehouse: Warehouse, asked: Slice) -> tuple[list[Slice], Evalsets]:
    """The slices of the evaluation sets that a slice's test set and language pair name (see `expand`)."""
    evalsets = expand(warehouse, asked.testset, asked.lp, asked.human)
    return [replace(asked, testset=testset, lp=lp) for testset, lp in evalsets.chosen], evalsets


def load_ranking_inputs(
    run: Run,
    asked: Slice,
    measures: Sequence[Measure],
    options: Options,
    testing: TestOptions | None = None,
    *,
    strict: bool = False,
    fresh: bool = False,
    ceiling: bool = False,
    by: By | None = None,
    also: Sequence[Callable[..., Any]] = (),
) -> RankingInputs:
    """Everything that a ranking needs: each block is fetched once, each measure evaluated once.

    asked: its test set and language pair may be several, joined by commas, or "all"; those without an answer are
    skipped, unless strict. testing: None for no clusters. fresh: look for no stored results.
    ceiling: with the values of human scores. by: rank each domain, or phenomenon, by itself; the slice's patterns
    restrict them. also: computed of each result while its scores are there, such as a `partial` of `intervals`.
    Raises QuestionError: see `study` and `prepare_comparison`; no evaluation set has an answer; something is requested
        that no measure's test has; with by, no segment has a domain.
    """
    check_used(options, measures)
    with run.opened() as warehouse:
        slices, evalsets = slices_of(warehouse, asked)
        if by is not None:
            parts = _parts_of(warehouse, slices, asked, by)
    if by is not None:
        load = partial(
            load_ranking_inputs,
            run,
            measures=measures,
            options=options,
            testing=testing,
            strict=strict,
            fresh=fresh,
            ceiling=ceiling,
        )
        loaded, without = _load_parts(parts, asked, by, load, strict)
        return RankingInputs({}, without, tuple(measures), options=options, by=by, parts=loaded)
    work = partial(
        _rank_evalset,
        asked=asked,
        measures=measures,
        options=options,
        testing=testing,
        fresh=fresh,
        ceiling=ceiling,
        also=also,
        is_alone=len(slices) == 1,
    )
    found: dict[Slice, RankedEvalset] = {}
    errors: dict[tuple[str, str], QuestionError] = {}
    computed = run.each(work, [(one.testset, one.lp) for one in slices], "ranking", is_storing=testing is not None)
    for one, result in zip(slices, computed, strict=True):
        if not isinstance(result, QuestionError):
            found[one] = result
        elif strict or len(slices) == 1:
            raise result
        else:
            errors[one.testset, one.lp] = result
    if not found:
        raise unanswered(errors)
    if testing is not None:
        from metaeval.studies.significance.options import check_applicable

        check_applicable(testing, [test for one in found.values() for test in one.tests])
    try:
        check_ranked([one.study for one in found.values()])
    except QuestionError as error:
        if not evalsets.without_human:
            raise
        raise QuestionError(f"{error.text}; without a human score: {named(evalsets.without_human)}") from error
    faults: dict[str, list[tuple[str, str]]] = {}
    for place, fault in errors.items():
        faults.setdefault(fault.text, []).append(place)
    n_asked = len(slices) + len(evalsets.without_human)
    n_ranked = sum(any(result.evaluation.n_distinct for result in one.study.results) for one in found.values())
    skipped: list[str] = []
    if n_ranked < n_asked > 1:
        skipped = [Partial(f"partial: {n_ranked} of {n_asked} evaluation sets {are(n_ranked)} ranked")]
    skipped += [
        f"{named(of)} {are(len(of))} skipped: {text} ({option('strict', True)} refuses)" for text, of in faults.items()
    ]
    if evalsets.without_human:
        n = len(evalsets.without_human)
        skipped.append(f"{named(evalsets.without_human)} {are(n)} skipped, because no human score is loaded")
    return RankingInputs(found, tuple(skipped), tuple(measures), options, n_asked=n_asked)


def _rank_evalset(
    run: Run,
    testset: str,
    lp: str,
    *,
    asked: Slice,
    measures: Sequence[Measure],
    options: Options,
    testing: TestOptions | None,
    fresh: bool,
    ceiling: bool,
    also: Sequence[Callable[..., Any]],
    is_alone: bool,
) -> RankedEvalset:
    """is_alone: there is no other evaluation set whose test may have what is requested, or which can be ranked."""
    asked = replace(asked, testset=testset, lp=lp)
    with run.opened() as warehouse:
        found = study(warehouse, asked, measures, options)
        prepared = [] if testing is None else _prepare_comparisons(warehouse, found, options, testing, fresh)
        people = None
        if ceiling:
            from metaeval.studies.people.human_rows import human_rows

            people = human_rows(warehouse, asked, found, options)
    tests = tuple(one.testing.test for one in prepared if one.testing.test is not None)
    if is_alone and testing is not None:
        from metaeval.studies.significance.options import check_applicable

        check_applicable(testing, tests)
    if is_alone and not is_ranked([found]):
        prepared, also = [], ()  # `load_ranking_inputs` says why
    tested = {one.measure: _compared(one, run, is_alone) for one in prepared}
    more = tuple(tuple(compute(result, progress=run.progress) for result in found.results) for compute in also)
    return RankedEvalset(found.without_scores, tested, tests, people, more)


def _parts_of(warehouse: Warehouse, slices: Sequence[Slice], asked: Slice, by: By) -> list[str]:
    """The domains, or phenomena, of the slices. Raises QuestionError: none."""
    patterns: tuple[str, ...] = getattr(asked, by)
    known = names(warehouse, by, [one.testset for one in slices], [one.lp for one in slices])
    named = {name for pattern in patterns for name in in_any_case(pattern, known)}
    chosen = [one for one in known if not patterns or one in named]
    if not chosen:
        if known:
            raise QuestionError(f"no {by} matches {option(by)}")
        several = "domains" if by == "domain" else "phenomena"
        testsets = dict.fromkeys(testset for testset, _, _ in with_both(warehouse))
        others = [testset for testset in testsets if names(warehouse, by, [testset])]
        raise QuestionError(
            f"{asked.testset} {asked.lp} has no {several}",
            hint=f"{'with these: ' if others else 'nor has any other set that can be ranked'}{', '.join(others)}",
        )
    return chosen


def _load_parts(
    chosen: Sequence[str], asked: Slice, by: By, load: Callable[[Slice], RankingInputs], strict: bool
) -> tuple[dict[str, RankingInputs], tuple[str, ...]]:
    """The inputs of each domain, or phenomenon, of the slices, and lines on those without any."""
    parts: dict[str, RankingInputs] = {}
    faults: dict[str, str] = {}
    for part in chosen:
        try:
            one = replace(asked, **{by: (escape(part),)})  # type: ignore[arg-type]
            parts[part] = load(one)
        except QuestionError as error:
            if strict:
                raise
            faults[because(f"{by} {part} is excluded: ", error)] = error.text
    if not parts:
        raise QuestionError("; ".join(faults if len(set(faults.values())) > 1 else set(faults.values())))
    return parts, tuple(faults)


def _prepare_comparisons(
    warehouse: Warehouse, of: Study, options: Options, testing: TestOptions, fresh: bool
) -> "list[PreparedComparison]":
    from metaeval.studies.significance.cached import prepare_comparison

    return [
        prepare_comparison(
            warehouse,
            result.block,
            result.evaluation.measure,
            options,
            testing,
            fresh=fresh,
            in_depth=False,
            evaluation=result.evaluation,
        )
        for result in of.results
    ]


def _compared(one: "PreparedComparison", run: Run, is_alone: bool) -> "Tested":
    """The comparison and notes on the store, or why there is none. Raises QuestionError: that, if it is alone."""
    from metaeval.studies.significance.cached import run_or_load
    from metaeval.studies.significance.comparison import Comparison

    try:
        comparison, notes = run_or_load(one, run.database, run.progress)
    except QuestionError as error:
        if is_alone:
            raise
        return error
    assert isinstance(comparison, Comparison)
    return comparison, notes


def ranked(inputs: RankingInputs, how: Pooling | None = None, *, verbose: bool = False) -> Result:
    """The ranking; rows as of `rank` in json.

    how: a way of pooling; None ranks each evaluation set by itself. verbose: notes name what is excluded.
    Raises QuestionError: as `pool`.
    """
    if inputs.by is not None:
        tables = {part: ranked(one, how, verbose=verbose) for part, one in inputs.parts.items()}
        return _parts_together(tables, inputs.by, inputs.skipped)
    tested: list[tuple[Slice, Comparison]] = []
    studies = list(inputs.studies.values())
    results = [result for one in studies for result in one.results]
    several = len(inputs.studies) > 1
    notes = [
        placed(f"{asked.testset} {asked.lp}", note) if several else note
        for asked, one in inputs.studies.items()
        for note in [*one.notes, *(line for result in one.results for line in excluded(result, verbose))]
    ]
    notes += inputs.skipped
    notes += on_few_metrics(results)
    parts: list[Sequence[Part]]
    if how is None:
        frame, parts = ranking(*studies), [one.parts for one in results]
    else:
        pooled = [
            pool(list(group), how, inputs.options) for group in zip(*(one.results for one in studies), strict=True)
        ]
        frame, parts = _stacked([one.frame for one in pooled]), [line for one in pooled for line in one.lines]
        notes += [note for one in pooled for note in one.notes]
    if any(one.tested for one in inputs.evalsets.values()):
        from metaeval.studies.significance.comparison import with_clusters

        tested = _tested(inputs, notes, several)
        frame = with_clusters(frame, tested)
        if tested:
            untested, more = _untested_metrics(inputs, tested, several)
            parts = [*untested, *(one.parts for _, one in tested)]
            notes += more
    people = {asked: one.people for asked, one in inputs.evalsets.items() if one.people is not None}
    if people:
        from metaeval.studies.people.human_rows import with_people

        frame = with_people(frame, list(people.values()))
        parts = [*parts, *(line for rows in people.values() for line in rows.lines)]
        notes += [
            f"{asked.testset} {asked.lp}: {note}" if several else note
            for asked, rows in people.items()
            for note in rows.notes
        ]
    by = {
        (asked.testset, asked.lp): {str(result.evaluation.measure): result.by for result in one.results}
        for asked, one in inputs.studies.items()
    }
    facts: dict[str, Any] = {"comparisons": tuple(tested), "idle": _idle(inputs), "by": by}
    if how is not None:
        facts["idle"] = dict.fromkeys(frame.select("testset", "lp").unique().rows(), _idle_throughout(inputs))
    return Result(frame, parts, tuple(dict.fromkeys(notes)), facts)


def on_few_metrics(results: Sequence[SliceResult]) -> list[str]:
    """A note if what a measure needs is missing for most metrics: for how many, or in how many of several sets."""
    few = {
        result.selection.evalset_id: notes
        for result in results
        if result.evaluation.n_distinct
        and (notes := few_metrics((one.name for one in result.evaluation.metrics), result.evaluation.excluded))
    }
    n = len({result.selection.evalset_id for result in results if result.evaluation.n_distinct})
    if not few or n < 2:
        return next(iter(few.values()), [])
    where = every(n, "set") if len(few) == n else f"{len(few)} of {n} sets"
    return [Partial(f"partial: in {where}, the scores needed are missing for most metrics")]


def _idle(inputs: RankingInputs) -> dict[tuple[str, ...], set[str]]:
    """Metrics that judge no translation, by test set and language pair."""
    return {
        (asked.testset, asked.lp): without_judgement(_names_in(one), one.notes) for asked, one in inputs.studies.items()
    }


def _idle_throughout(inputs: RankingInputs) -> set[str]:
    """Base names of metrics that judge no translation in any evaluation set."""
    idle: set[str] = set()
    judging: set[str] = set()
    for one, there in zip(inputs.studies.values(), _idle(inputs).values(), strict=True):
        for name, base in _names_in(one):
            (idle if name in there else judging).add(base)
    return idle - judging


def _names_in(one: Study) -> list[tuple[str, str]]:
    """Names and base names of the metrics of a study."""
    return [(metric.name, metric.base_name) for result in one.results for metric in result.evaluation.metrics]


def facts_together(tables: Mapping[str, Result]) -> dict[str, Any]:
    """The facts of several rankings of the same evaluation sets; the keys of `idle` and `by` end with their names."""
    return {
        "comparisons": tuple(one for table in tables.values() for one in table.facts["comparisons"]),
        **{
            fact: {(*place, name): one for name, table in tables.items() for place, one in table.facts[fact].items()}
            for fact in ("idle", "by")
        },
    }


def _parts_together(tables: Mapping[str, Result], by: By, skipped: Sequence[str]) -> Result:
    """The rankings of all domains, or phenomena, with a column of that name."""
    frame = _stacked([table.frame.with_columns(pl.lit(part).alias(by)) for part, table in tables.items()])
    said: dict[str, list[str]] = {}
    for part, table in tables.items():
        for note in table.notes:
            said.setdefault(note, []).append(part)
    notes = [note if len(parts) == len(tables) else placed(", ".join(parts), note) for note, parts in said.items()]
    lines = [line for table in tables.values() for line in table.lines]
    columns = [name for name in frame.columns if name != by]
    frame = frame.select(*columns[:2], by, *columns[2:])
    return Result(frame, joined(lines), (*notes, *skipped), facts_together(tables))


def _tested(inputs: RankingInputs, notes: list[str], several: bool) -> "list[tuple[Slice, Comparison]]":
    """The comparisons with their slices; notes are added to the given ones, preceded by those on what clusters hide."""
    from metaeval.studies.significance.comparison import as_ranked
    from metaeval.studies.significance.standings import clusters_by_chance, warning_of_clusters

    tested: list[tuple[Slice, Comparison]] = []
    warnings: list[str] = []
    for asked, one in inputs.evalsets.items():
        where = f"{asked.testset} {asked.lp}: " if several else ""
        for result, (measure, test) in zip(one.study.results, one.tested.items(), strict=True):
            if isinstance(test, QuestionError):
                notes.append(f"{where}{measure} has no clusters: {test.text}")
                continue
            comparison, stored = test
            notes += stored
            ranking = as_ranked(comparison, result.evaluation, result.parts, result.by)
            tested.append((asked, ranking))
            lines = [ranking.generalises, *clusters_by_chance(ranking, ranking.alternative)]
            lines += _other_means(result.evaluation, comparison)
            notes += [placed(f"{where}{measure}", line) for line in lines]
            warnings += [placed(f"{where}{measure}", line) for line in warning_of_clusters(ranking.indistinct)]
    # Clusters hide pairs that do not differ, so this comes before what is merely technical.
    notes[:0] = warnings
    return tested


def _other_means(shown: Evaluation, tested: "Comparison") -> list[str]:
    """A line if a test uses other system scores than the values; none if the values are alike."""
    values = dict(zip((choice.name for choice in shown.metrics), shown.value.tolist(), strict=True))
    apart = {
        name: abs(value - values[name])
        for name, value in zip(tested.names, tested.values.tolist(), strict=True)
        if name in values
    }
    most = max((name for name in apart if apart[name] > EQUAL), key=apart.__getitem__, default=None)
    if most is None:
        return []
    other = tested.values[tested.names.index(most)]
    case = f"{most}, {values[most]:.3f} shown and {other:.3f} tested"
    kind = "tested on means over annotated segments, not on the system scores of the values:"
    return [Decisive(f"{kind} they differ most for {case}", kind, case, apart[most])]


def _untested_metrics(
    inputs: RankingInputs, tested: "Sequence[tuple[Slice, Comparison]]", several: bool
) -> tuple[list[Sequence[Part]], list[str]]:
    """Parts of the signatures of rankings with metrics that no test compares, and lines on them."""
    compared = {(asked, test.measure): test for asked, test in tested}
    parts: list[Sequence[Part]] = []
    notes = []
    for asked, one in inputs.studies.items():
        where = f"{asked.testset} {asked.lp}: " if several else ""
        for result in one.results:
            evaluation = result.evaluation
            comparison = compared.get((asked, str(evaluation.measure)))
            if comparison is None:
                continue
            valued = zip(evaluation.metrics, ~np.isnan(evaluation.value), strict=True)
            left = [choice.name for choice, has_value in valued if has_value and choice.name not in comparison.names]
            if left:
                parts.append(result.parts)
                notes.append(f"{where}{evaluation.measure}: {', '.join(left)} {are(len(left))} {UNTESTED}")
    return parts, notes


def named(evalsets: Sequence[tuple[str, str]]) -> str:
    """Evaluation sets in words: each test set with its language pairs.

    >>> named([("wmt23", "en-de"), ("wmt23", "zh-en"), ("wmt24", "en-es")])
    'wmt23 en-de, zh-en; wmt24 en-es'
    """
    by_testset: dict[str, list[str]] = {}
    for testset, lp in evalsets:
        by_testset.setdefault(testset, []).append(lp)
    return "; ".join(f"{testset} {', '.join(lps)}" for testset, lps in by_testset.items())


def _stacked(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames, how="diagonal")


def explanation(
    warehouse: Warehouse, asked: Slice, measures: Sequence[Measure], options: Options | None = None
) -> Result:
    """Every system and metric of an evaluation set, included in a ranking or not, and why not.

    Columns: kind (system or metric), name, included ("yes", "no", or "partly": for some of the measures), reason;
    sorted by kind, included ones first, and name. Also works without a human score to rank by.
    options: those of the ranking, as the source of system scores decides who has some.
    Raises QuestionError: see `queries.selection.select`.
    """
    options = options or Options()
    inputs = Inputs(warehouse, asked, options.round_human, human="optional")
    reasons: dict[tuple[str, str], dict[str, Exclusion | None]] = {}
    notes: dict[str, None] = {}
    for measure in measures:
        block = inputs.block(measure)
        notes |= dict.fromkeys(block.selection.notes)
        if block.selection.human is not None:
            notes |= dict.fromkeys(lines_on([measure], block, options))
        _, missing = rankable(measure, block, options)
        for system in block.selection.systems:
            reasons.setdefault(("system", system.name), {})[str(measure)] = system.reason
        for metric in block.selection.metrics:
            reason = metric.reason or missing.get(metric.name)
            reasons.setdefault(("metric", metric.name), {})[str(measure)] = reason
    rows = [(kind, name, *_included(found)) for (kind, name), found in reasons.items()]
    schema = {"kind": pl.String, "name": pl.String, "included": pl.String, "reason": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row").sort(
        pl.col("kind").replace_strict({"system": 0, "metric": 1}),
        pl.col("included").replace_strict({"yes": 0, "partly": 1, "no": 2}),
        "name",
    )
    what = ("explanation", ",".join(map(str, measures)))
    return Result(frame, table_parts(what, block, ("system_score", options.system_score)), tuple(notes))


def _included(reasons: Mapping[str, Exclusion | None]) -> tuple[str, str]:
    """ "yes", "no" or "partly", and the reason (for each measure where they differ)."""
    distinct = set(reasons.values())
    if distinct == {None}:
        return "yes", ""
    if len(distinct) == 1:
        return "no", str(*distinct)
    why = [f"{measure}: {reason or 'included'}" for measure, reason in reasons.items()]
    return ("no" if None not in distinct else "partly"), "; ".join(why)


def excluded(result: SliceResult, verbose: bool) -> list[str]:
    """Lines that say which systems and metrics of the evaluation set a result excludes.

    verbose: with names and reasons; else only how many, and where to see more.
    """
    selection = result.selection
    lines: list[str] = []
    for kind, choices in (("systems", selection.systems), ("metrics", selection.metrics)):
        out = [choice for choice in choices if choice.reason is not None]
        included = {_base_of(choice) for choice in choices if choice.reason is None}
        if not out:
            continue
        if not verbose:
            text = f"{len(out)} of {len(choices)} {kind} {are(len(out))} excluded"
            lines.append(ExclusionNote(text, EXPLAIN, kind.removesuffix("s"), len(out)))
            named = (*selection.slice.metrics, *selection.slice.systems)
            needs_segments = result.evaluation.measure.definition.needs_segments
            lines += [
                hinted(
                    f"{choice.name} is excluded: {choice.reason.sentence}",
                    choice.reason.hint if getattr(choice, "has_segments", True) or not needs_segments else "",
                )
                for choice in out
                if choice.reason is not None and (choice.name in named or _base_of(choice) in {*named} - included)
            ]
            continue
        by_reason: dict[str, list[str]] = {}
        for choice in out:
            by_reason.setdefault(str(choice.reason), []).append(choice.name)
        lines += [
            ExclusionNote(
                f"{len(names)} {kind if len(names) > 1 else kind[:-1]} "
                f"{are(len(names))} excluded, {reason}: {', '.join(names)}",
                "",
                kind.removesuffix("s"),
                len(names),
                names,
            )
            for reason, names in sorted(by_reason.items())
        ]
    return lines


def _base_of(choice: MetricChoice | SystemChoice) -> str:
    """The name without the reference of a metric; a system's own."""
    return choice.base_name if isinstance(choice, MetricChoice) else choice.name


def leaders(frame: pl.DataFrame) -> str:
    """The metrics of a test set that are in the top significance cluster of every language pair, by each measure.

    frame: as of `ranked`, of one test set; if no test compared metrics, the first rank replaces the cluster. Sentinels
    and random scores lead nowhere.
    >>> columns = {"measure": ["pa"] * 3, "lp": ["en-de", "en-de", "he-en"], "rank": [1, 2, 1], "cluster": [1, 1, 1]}
    >>> leaders(pl.DataFrame({**columns, "base_metric": ["A", "B", "B"], "value": [0.9, 0.8, 0.7]}))
    'In the top cluster in both language pairs: by pa B.'
    """
    found: dict[str, list[str]] = {}
    for (measure,), rows in frame.group_by("measure", maintain_order=True):
        where, names = _most_leading(rows)
        if names:
            found.setdefault(where, []).append(f"by {measure} {names}")
    return " ".join(f"{where}: {'; '.join(parts)}." for where, parts in found.items())


def _most_leading(rows: pl.DataFrame) -> tuple[str, str]:
    """In how many language pairs metrics lead by a measure, and which do."""
    valued = rows.filter(pl.col("value").is_not_null() & pl.col("value").is_not_nan() & pl.col("rank").is_not_null())
    judging = [name for name in valued["base_metric"].unique() if describe(name).kind not in JUDGES_NOTHING]
    valued = valued.filter(pl.col("base_metric").is_in(judging))
    clustered = "cluster" in valued.columns and valued["cluster"].count() > 0
    is_first = pl.col("cluster") == 1 if clustered else pl.col("rank") == pl.col("rank").min().over("lp")
    first = valued.filter(is_first)
    if not first.height:
        return "", ""
    n_lps = valued["lp"].n_unique()
    counts = (
        first.lazy()
        .group_by("base_metric")
        .agg(n=pl.col("lp").n_unique(), rank=pl.col("rank").mean())
        .sort("n", "rank", "base_metric", descending=[True, False, False])
        .collect()
    )
    places = str(valued["lp"][0]) if n_lps == 1 else every(n_lps, "language pair")
    where = f"{'In the top cluster' if clustered else 'First'} in {places}"
    everywhere = counts.filter(pl.col("n") == n_lps)["base_metric"].to_list()
    if not everywhere:
        most = counts.filter(pl.col("n") == pl.col("n").max())
        each = " each" if most.height > 1 else ""
        return where, f"none ({first_names(most['base_metric'].to_list(), 2)} in {most['n'][0]}{each})"
    return where, first_names(everywhere)
