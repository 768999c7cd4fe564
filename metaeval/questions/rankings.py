"""Metrics and systems ranked and tested against each other."""

from typing import Literal, Unpack

from metaeval.domains import ranked_domains, read_domains
from metaeval.inputs import Inputs, check_used
from metaeval.intervals import with_intervals
from metaeval.kernels.resampling.bootstrap import IntervalMethod, Resample
from metaeval.kernels.resampling.corrections import Correction
from metaeval.measures import Measure
from metaeval.measures.applicable import Population, Test
from metaeval.options import Options
from metaeval.pooling import Pooling
from metaeval.protocols import Protocol, protocol_named, protocols
from metaeval.protocols.entry import enter
from metaeval.protocols.scoring import score
from metaeval.protocols.tables import lines_on, score_frame
from metaeval.questions.arguments import Measures, SliceOptions, measure_of, measures_of, question, slice_of
from metaeval.ranking import DEFAULT_MEASURES, ranked, read
from metaeval.significance.cached import pending, settled
from metaeval.significance.comparison import matrix_frame
from metaeval.significance.options import TestOptions
from metaeval.significance.pair_tables import pair_frame
from metaeval.significance.systems import SystemTest, compare_systems, systems_frame
from metaeval.system_scores import SystemScore
from metaeval.table import Table
from queries.evalsets import expand
from queries.selection import Slice
from warehouse import QuestionError, Warehouse

_FIRST = ("domain", "phenomenon", "metric", "kind", "measure", "value", "low", "high", "rank", "cluster")
"""Columns of a ranking that people read first."""


@question
def rank(
    warehouse: Warehouse,
    testset: str,
    lp: str = "all",
    measures: Measures = DEFAULT_MEASURES,
    *,
    pool: Pooling | None = None,
    by: Literal["domain", "phenomenon"] | None = None,
    intervals: bool = False,
    significance: bool = False,
    test: Test | None = None,
    population: Population | None = None,
    alternative: Literal["greater", "two-sided"] = "two-sided",
    draws: int = 1000,
    alpha: float = 0.05,
    correction: Correction = "none",
    plus_one: bool = False,
    mid_p: bool | None = None,
    early_stop: bool = False,
    unit: Literal["segment", "document"] = "segment",
    legacy_df: bool = False,
    absolute: bool = False,
    n_threads: int | None = None,
    fresh: bool = False,
    system_score: SystemScore | None = None,
    seed: int = 0,
    raw_ties: bool = False,
    round_human: int | None = None,
    verbose: bool = False,
    strict: bool = False,
    ceiling: bool = False,
    **options: Unpack[SliceOptions],
) -> Table:
    """Rank metrics by how well they agree with human scores.

    testset, lp: one, several joined by commas, or "all". measures: such as "spa" or ["pa", "acc_eq(by=item)"].
    by: "domain" ranks each domain by itself, as the column domain says, "phenomenon" each of a challenge set.
    intervals: with the 95% interval of each value in the columns low and high. significance: test metrics against each
    other, for the column cluster; its options are those of `compare`. population: what the result generalises to: new
    "segments" of these systems (the default where the scores allow it), new "systems" on these segments, or "both".
    draws: resamples of tests and of intervals. fresh: recompute clusters that the warehouse has stored.
    ceiling: with rows of people, of kind "people" and without a rank: other human scores as if they were metrics, and
    one half of the judgements against the other.
    Returns one row for each measure and metric, best first; undefined values are null and last.
    Raises QuestionError: unknown names, a slice with nothing in it, no metric that can be ranked, or options that do
    not go together.
    """
    testing = TestOptions(
        test=test,
        population=population,
        alternative=alternative,
        draws=draws,
        alpha=alpha,
        correction=correction,
        plus_one=plus_one,
        mid_p=mid_p,
        early_stop=early_stop,
        whole_documents=unit == "document",
        legacy_df=legacy_df,
        absolute=absolute,
        n_threads=n_threads,
    )
    testing.check()
    computing = Options(system_score, seed, raw_ties, round_human)
    asked = (slice_of(testset, lp, options), measures_of(measures), computing, testing if significance else None)
    if by is not None:
        domains, faults = read_domains(warehouse, *asked, by=by, strict=strict, fresh=fresh)
        table, lines = ranked_domains(domains, pool, by=by, verbose=verbose), faults
    else:
        found = read(warehouse, *asked, strict=strict, fresh=fresh, ceiling=ceiling)
        table, lines = ranked(found, pool, verbose=verbose), []
        if intervals:
            table, lines = with_intervals(table, found, computing, draws)
    first = [name for name in _FIRST if name in table.frame.columns]
    rest = [name for name in table.frame.columns if name not in (*first, "signature")]
    return Table(table.frame.select(*first, *rest, "signature"), table.signature, (*table.notes, *lines))


@question
def compare(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    measure: str | Measure = "spa",
    *,
    test: Test | None = None,
    population: Population | None = None,
    alternative: Literal["greater", "two-sided"] = "two-sided",
    draws: int = 1000,
    alpha: float = 0.05,
    correction: Correction = "none",
    plus_one: bool = False,
    mid_p: bool | None = None,
    early_stop: bool = False,
    unit: Literal["segment", "document"] = "segment",
    legacy_df: bool = False,
    absolute: bool = False,
    resample: Resample = "inputs",
    interval: IntervalMethod | None = None,
    n_threads: int | None = None,
    fresh: bool = False,
    system_score: SystemScore | None = None,
    seed: int = 0,
    raw_ties: bool = False,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Test every metric against every other: p-values and significance clusters.

    population: what the result generalises to: new "segments" of these systems (the default where the scores allow it),
    new "systems" on these segments, or "both". test: this one instead of one that holds its level for the population.
    mid_p: resamples that tie with the data count half; None = where a measure takes few values and no test is named.
    unit: what is swapped for new segments; "document" where segments of a document are alike. fresh: recompute a result
    that the warehouse has stored.
    Returns a row for each metric: rank, metric, value, cluster, and a column of p-values for each metric: that the two
    differ or, with alternative "greater", that the metric of the row is better. Where the slice leaves two metrics: a
    row for each applicable test of the two.
    Raises QuestionError: unknown names, a test that does not apply to the measure, fewer than two metrics.
    """
    parsed = measure_of(measure)
    testing = TestOptions(
        test=test,
        population=population,
        alternative=alternative,
        draws=draws,
        alpha=alpha,
        correction=correction,
        plus_one=plus_one,
        mid_p=mid_p,
        early_stop=early_stop,
        whole_documents=unit == "document",
        legacy_df=legacy_df,
        absolute=absolute,
        resample=resample,
        interval=interval,
        n_threads=n_threads,
    )
    computing = Options(system_score, seed, raw_ties, round_human)
    check_used(computing, [parsed])
    block = Inputs(warehouse, slice_of(testset, lp, options), round_human).block(parsed)
    found = settled(pending(warehouse, block, parsed, computing, testing, fresh=fresh), None)
    if found.pairwise is not None:
        two = found.pairwise
        return Table(pair_frame(two), two.signature, (*two.words, *two.notes, *found.notes))
    assert found.comparison is not None
    notes = (found.comparison.summary, *found.comparison.notes, *found.notes)
    return Table(matrix_frame(found.comparison), found.comparison.signature, notes)


def _rules(named: str | None, testset: str) -> Protocol:
    """Raises QuestionError: there are none of that name, or the test set has none."""
    if named is not None:
        return protocol_named(named)
    try:
        return protocol_named(testset)
    except QuestionError as error:
        rules = ", ".join(protocols())
        raise QuestionError(f"{testset} has no rules of its own; `rules` names those of a year: {rules}") from error


@question
def protocol(
    warehouse: Warehouse,
    testset: str,
    lp: str | None = None,
    *,
    rules: str | None = None,
    human: str | None = None,
    reference: str | None = None,
    all_metrics: bool = False,
    significance: bool = False,
    population: Population | None = None,
    alternative: Literal["greater", "two-sided"] | None = None,
    draws: int = 1000,
    alpha: float = 0.05,
    plus_one: bool = False,
    mid_p: bool | None = None,
    unit: Literal["segment", "document"] = "segment",
    legacy_df: bool = False,
    absolute: bool = False,
    n_threads: int | None = None,
    system_score: SystemScore | None = None,
    seed: int = 0,
    raw_ties: bool = False,
    round_human: int | None = None,
    verbose: bool = False,
) -> Table:
    """Score metrics by a shared task's own rules: every task, the overall score, ranks and, if tested, clusters.

    lp: None for the official language pairs; one, several joined by commas, or "all". rules: whose, such as "wmt24";
    None for the test set's own. significance: p-values and clusters for every task and the overall score, by the
    protocol's own tests, which the other options of tests change; population: beside these, by tests that hold their
    level for new "segments", new "systems" or "both". verbose: notes name what is excluded.
    Raises QuestionError: unknown names, no metric that can be scored, or an option that the tests do not have.
    """
    computing = Options(system_score, seed, raw_ties, round_human)
    lps = [name for _, name in expand(warehouse, testset, lp, human).chosen] if lp is not None else None
    entry = enter(
        warehouse,
        _rules(rules, testset),
        testset,
        lps=lps,
        asked=Slice(testset, "", human=human, reference=reference),
        all_metrics=all_metrics,
        options=computing,
    )
    testing = TestOptions(
        population=population,
        alternative=alternative,
        draws=draws,
        alpha=alpha,
        plus_one=plus_one,
        mid_p=mid_p,
        whole_documents=unit == "document",
        legacy_df=legacy_df,
        absolute=absolute,
        n_threads=n_threads,
    )
    found = score(entry, significance=significance, options=computing, testing=testing)
    return Table(score_frame(found), found.signature, (*found.notes, *lines_on(found, verbose)))


@question
def systems(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    scorer: str | None = None,
    *,
    test: SystemTest = "permutation",
    draws: int = 1000,
    alpha: float = 0.05,
    unit: Literal["segment", "document"] = "segment",
    system_score: Literal["mean", "judged-mean"] | None = None,
    seed: int = 0,
    round_human: int | None = None,
    **options: Unpack[SliceOptions],
) -> Table:
    """Test every system against every other by one scorer: p-values and clusters of systems.

    The slice's option `systems` restricts which. scorer: a metric; None for the human score. unit: what is resampled
    and compared, "document" where segments of a document are alike.
    Returns a row for each system: rank, system, value, cluster, submitted score, and a column of p-values for each.
    Raises QuestionError: unknown names, or no two systems with segment scores.
    """
    computing = Options(system_score, seed, round_human=round_human)
    found = compare_systems(
        warehouse,
        slice_of(testset, lp, options),
        scorer,
        test,
        computing,
        draws=draws,
        alpha=alpha,
        whole_documents=unit == "document",
    )
    notes = (found.summary, *found.notes)
    return Table(systems_frame(found), found.signature, notes)
