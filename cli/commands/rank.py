"""`scorehouse rank`."""

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.exit_codes import ExitCode, UsageError
from cli.options import (
    ChartFlags,
    ComputeFlags,
    Fresh,
    Lp,
    Measures,
    Output,
    SliceFlags,
    TestFlags,
    Testset,
    choice,
    folded,
)
from cli.options.beside import OF_TESTS, refuse_given
from cli.progress import progress
from cli.render import DIGITS, note

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from metaeval.measures import Measure
    from metaeval.table import Table

POOLINGS = ("mean", "pairs", "hunter-schmidt")
BY = ("domain", "phenomenon")
OF_RANKINGS = (
    *("pool", "by", "wide", "with_intervals", "ranges", "significance", "ceiling", "chart"),
    *("seed", "raw_ties", "round_human", "strict", "verbose"),
)


@folded
def rank(
    context: typer.Context,
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    compute: ComputeFlags,
    tests: TestFlags,
    charted: ChartFlags,
    output: Output,
    measure: Measures = None,
    by: Annotated[
        str | None, choice(BY, "--by", help="Rank each domain by itself, or each phenomenon of a challenge set.")
    ] = None,
    wide: Annotated[
        bool,
        typer.Option("--wide", help="A row a metric, a column a language pair; the best bold, clusters raised."),
    ] = False,
    with_intervals: Annotated[
        bool, typer.Option("--intervals", help="Add the 95% interval of each value (--draws resamples).")
    ] = False,
    ranges: Annotated[
        bool, typer.Option("--ranges", help="Add the range of each rank over resamples (--draws of them).")
    ] = False,
    pool: Annotated[
        str | None,
        choice(POOLINGS, "--pool", help="Pool values over test sets or language pairs."),
    ] = None,
    significance: Annotated[
        bool, typer.Option("--significance", help="Add significance clusters; options as in compare.")
    ] = False,
    ceiling: Annotated[
        bool,
        typer.Option("--ceiling", help="Add people: other human scores, and halves of judgements, without a rank."),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Instead, list every system and metric, included or not, with the reason."),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="List excluded systems and metrics.")] = False,
    fresh: Fresh = False,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="With several test sets: fail if one cannot be ranked, instead of skipping it."),
    ] = False,
    with_file: Annotated[
        Path | None,
        typer.Option(
            "--with",
            metavar="FILE",
            help="Also rank the metric in NAME-REFERENCE.seg.score, or in a table; nothing is stored.",
        ),
    ] = None,
) -> None:
    """Rank metrics by how well they agree with human scores.

    TESTSET and LP may be several, joined by commas, or all. Without --pool each is ranked by itself. A chart of one has
    dots with 95% intervals, one of several, and of domains, is a heat map.

    Example: scorehouse rank sim24 en-de -m spa -m "acc_eq(by=item)"
    """
    asked = _Asked(
        measure, pool, by, wide, significance, with_intervals, ranges, ceiling, explain, verbose, fresh, strict
    )
    asked.check()
    if not significance:
        refuse_given(context, OF_TESTS, "needs --significance")
        if not with_intervals and not ranges and charted.chart is None:
            refuse_given(context, ("draws",), "needs --significance, --intervals, --ranges or --chart")
    draws_something = significance or with_intervals or ranges or ceiling or explain or charted.chart is not None
    if not draws_something and not _is_drawn(measure):
        refuse_given(
            context, ("seed",), "needs something that is drawn: --significance, --intervals, --ranges, --ceiling or spa"
        )
    if explain:
        refuse_given(context, OF_RANKINGS, "does not go with --explain, which ranks nothing")
    if with_file is None:
        _rank(testset, lp, flags, compute, tests, charted, output, asked)
        return
    with _trial(with_file, testset, lp, flags, output) as (database, name):
        named = None if flags.metrics is None else [*flags.metrics, name]
        flags = replace(flags, own=True, metrics=named)
        _rank(testset, lp, flags, compute, tests, charted, replace(output, db=database), asked)


@dataclass(frozen=True)
class _Asked:
    """The options of the command itself."""

    measure: list[str] | None
    pool: str | None
    by: str | None
    wide: bool
    significance: bool
    with_intervals: bool
    ranges: bool
    ceiling: bool
    explain: bool
    verbose: bool
    fresh: bool
    strict: bool

    def check(self) -> None:
        """Raises UsageError: what does not go together."""
        if self.fresh and not self.significance:
            raise UsageError("--fresh goes with --significance: other values are not stored")
        if self.significance and self.pool is not None:
            raise UsageError("--significance and --pool do not go together; `scorehouse protocol` tests pooled scores")
        if self.with_intervals and self.pool is not None:
            raise UsageError("--intervals and --pool do not go together: pooled values have no interval yet")
        if self.with_intervals and (self.wide or self.by is not None):
            raise UsageError("--intervals does not go with --wide or --by, whose columns are values")
        if self.ranges and (self.pool is not None or self.wide or self.by is not None):
            raise UsageError("--ranges does not go with --pool, --wide or --by: it is of one ranking")
        if self.ceiling and (self.pool is not None or self.wide or self.by is not None):
            raise UsageError("--ceiling does not go with --pool, --wide or --by: people have other data in each column")
        if self.wide and self.pool is not None:
            raise UsageError("--wide and --pool do not go together: a pooled ranking has one column")


def _is_drawn(measures: list[str] | None) -> bool:
    """Whether the value of a measure asked for, or of the default ones, is drawn."""
    from metaeval.measures import parse_measure
    from metaeval.ranking import DEFAULT_MEASURES

    return any(parse_measure(text).n_draws is not None for text in measures or DEFAULT_MEASURES)


@contextmanager
def _trial(path: Path, testset: str, lp: str, flags: SliceFlags, output: Output) -> "Iterator[tuple[Path, str]]":
    """A copy of the warehouse with scores of one's own in it, and the name of their metric.

    Evaluation sets that they do not cover are listed.

    Own metrics that are stored come in where flags select them, as without the file.

    Of several evaluation sets the file's rows say which they belong to.
    Raises UsageError: no such file. typer.Exit: faults in the file, which are shown.
    """
    from queries.evalsets import expand
    from warehouse import Warehouse
    from warehouse.own.scores import add
    from warehouse.own.trial import trial, variant_called

    if not path.is_file():
        raise UsageError(f"--with {path}: no such file")
    with Warehouse.open(output.database) as warehouse:
        chosen = expand(warehouse, testset, lp, flags.human).chosen
    testsets, lps = ({names[at] for names in chosen} for at in (0, 1))
    variant = variant_called(path, lps)
    (one_testset, one_lp) = (names.copy().pop() if len(names) == 1 else None for names in (testsets, lps))
    with trial(output.database, kept=None if flags.own else flags.metrics or ()) as copy:
        report = add([path], copy, variant.base_name, reference=variant.reference, testset=one_testset, lp=one_lp)
        for line in (*report.notes, *(f"error: {output.line_of(fault)}" for fault in report.faults)):
            note(line)
        if not report.is_clean:
            raise typer.Exit(ExitCode.DATA)
        covered = {(one.testset, one.lp) for one in report.evalsets}
        if missing := ", ".join(" ".join(one) for one in chosen if one not in covered):
            note(f"{path}: no scores for {missing}")
        yield copy, str(variant)


def _rank(
    testset: str,
    lp: str,
    flags: SliceFlags,
    compute: ComputeFlags,
    tests: TestFlags,
    charted: ChartFlags,
    output: Output,
    asked: _Asked,
) -> None:
    from metaeval.domains import ranked_domains, read_domains
    from metaeval.explanation import explanation
    from metaeval.intervals import with_intervals
    from metaeval.measures import parse_measure
    from metaeval.rank_ranges import with_ranges
    from metaeval.ranking import DEFAULT_MEASURES, ranked, read, slices_of
    from warehouse import Warehouse

    measures = list(dict.fromkeys(parse_measure(text) for text in asked.measure or DEFAULT_MEASURES))
    testing = tests.options()
    slice_, options = flags.slice(testset, lp), compute.options()
    how: Any = asked.pool
    with tests.cluster(testing) as testing, progress(output.quiet) as advance:
        with Warehouse.open(output.database) as warehouse:
            if asked.explain:
                slices, _ = slices_of(warehouse, slice_)
                if len(slices) > 1:
                    raise UsageError("--explain takes one test set and one language pair")
                output.show_table(explanation(warehouse, slices[0], measures, options))
                return
            tested = testing if asked.significance else None
            strict, fresh = asked.strict, asked.fresh
            if asked.by is None:
                ceiling = asked.ceiling
                found = read(warehouse, slice_, measures, options, tested, strict=strict, fresh=fresh, ceiling=ceiling)
            else:
                by: Any = asked.by
                domains, faults = read_domains(
                    warehouse, slice_, measures, options, tested, by=by, strict=strict, fresh=fresh
                )
        more: dict[str, Any] = {"database": output.database, "verbose": asked.verbose, "progress": advance}
        if asked.by is not None:
            table = ranked_domains(domains, how, by=by, **more)
            table = replace(table, notes=(*table.notes, *faults))
        else:
            table = ranked(found, how, **more)
        lines: list[str] = []
        drawn = table
        is_one = asked.by is None and not asked.wide and (how is not None or len(found.studies) == 1)
        if how is None and (asked.with_intervals or (is_one and charted.chart is not None)):
            drawn, lines = with_intervals(table, found, options, testing.draws, advance)
            if asked.with_intervals:
                table = replace(drawn, notes=(*table.notes, *lines))
        if asked.ranges:
            table, of_ranks = with_ranges(table, found, options, testing.draws, advance)
            table = replace(table, notes=(*table.notes, *of_ranks))
    _show(table, drawn, lines, measures, is_one, charted, output, asked)


def _show(
    table: "Table",
    drawn: "Table",
    lines: list[str],
    measures: "list[Measure]",
    is_one: bool,
    charted: ChartFlags,
    output: Output,
    asked: _Asked,
) -> None:
    """The chart and the table of a ranking. drawn: the table's rows with intervals, which lines are about."""
    from cli.render.wide import wide_texts
    from metaeval.wide import wide

    names = [str(measure) for measure in measures]
    if charted.chart:
        from cli.charts.ranking import ranking_dots, ranking_heat_map
        from queries.listing import own_metrics
        from warehouse import Warehouse

        with Warehouse.open(output.database) as warehouse:
            own = own_metrics(warehouse)
        if is_one:
            charted.draw(output, lambda: ranking_dots(drawn.frame, drawn.signature, lines, own))
        else:
            charted.draw(output, lambda: ranking_heat_map(wide(_metrics(table.frame)), names, table.signature))
    if asked.wide or (asked.by is not None and output.is_for_reading and len(measures) == 1):
        found = wide(table.frame)
        texts = wide_texts(found, DIGITS, is_terminal=output.is_for_terminal)
        mark = "bold, or *: the best of its column"
        mark += "; raised number: significance cluster" if asked.significance else ""
        notes = (*table.notes, mark) if output.is_for_reading else table.notes
        output.show_table(replace(table, frame=found.frame(), notes=notes), page=texts)
        return
    if output.is_for_reading:
        table = replace(table, frame=_wide(table.frame, measures))
    output.show_table(table)


def _metrics(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The rows of a ranking that are no people."""
    return frame.filter(kind="metric").drop("kind") if "kind" in frame.columns else frame


def _wide(frame: "pl.DataFrame", measures: "list[Measure]") -> "pl.DataFrame":
    """One row a metric, best by the first measure first; for each measure its value, rank and any tie threshold."""
    import polars as pl

    several = ["testset", "lp"] if frame.select("testset", "lp").n_unique() > 1 else []
    several += [name for name in ("domain", "phenomenon") if name in frame.columns]
    keys = [*several, "metric"]
    wide = None
    for measure in measures:
        part = frame.filter(pl.col("measure") == str(measure))
        shown = {"value": str(measure), "rank": f"rank {measure}"}
        optional = (
            "low",
            "high",
            "rank_low",
            "rank_high",
            "cluster",
            "epsilon",
            "observed_variance",
            "sampling_variance",
        )
        shown |= {
            name: f"{name} {measure}" for name in optional if name in part.columns and part[name].is_not_null().any()
        }
        if not measure.is_calibrated:
            shown.pop("epsilon", None)
        part = part.select(*keys, *(pl.col(name).alias(heading) for name, heading in shown.items()))
        if wide is not None:
            part = wide.join(part, on=keys, how="full", coalesce=True, maintain_order="left_right")
        wide = part
    assert wide is not None
    return wide.sort(several, maintain_order=True) if several else wide
