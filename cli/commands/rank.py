"""`scorehouse rank`."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.exit_codes import ExitCode, UsageError
from cli.options import ComputeFlags, Lp, Measures, Output, SliceFlags, TestFlags, Testset, choice, folded
from cli.progress import progress
from cli.render import note

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from metaeval.measures import Measure


POOLINGS = ("mean", "pairs", "hunter-schmidt")


@folded
def rank(
    testset: Testset,
    lp: Lp,
    flags: SliceFlags,
    compute: ComputeFlags,
    tests: TestFlags,
    output: Output,
    measure: Measures = None,
    pool: Annotated[
        str | None,
        choice(POOLINGS, "--pool", help="Pool values over test sets or language pairs."),
    ] = None,
    significance: Annotated[
        bool, typer.Option("--significance", help="Add significance clusters; options as in compare.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Instead, list every system and metric, included or not, with the reason."),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="List excluded systems and metrics.")] = False,
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

    TESTSET and LP may be several, joined by commas, or all. Without --pool each is ranked by itself.

    Example: scorehouse rank sim24 en-de -m spa -m "acc_eq(by=item)"
    """
    shown = (measure, pool, significance, explain, verbose, strict)
    if with_file is None:
        _rank(testset, lp, flags, compute, tests, output, *shown)
        return
    with _trial(with_file, testset, lp, flags.human, output.database) as database:
        _rank(testset, lp, replace(flags, own=True), compute, tests, replace(output, db=database), *shown)


@contextmanager
def _trial(path: Path, testset: str, lp: str, human: str | None, database: Path) -> "Iterator[Path]":
    """A copy of the warehouse with scores of one's own in it; evaluation sets that they do not cover are listed.

    Of several evaluation sets the file's rows say which they belong to.
    Raises UsageError: no such file. typer.Exit: faults in the file, which are shown.
    """
    from queries.evalsets import expand
    from warehouse import Warehouse
    from warehouse.own.scores import add
    from warehouse.own.trial import trial, variant_called

    if not path.is_file():
        raise UsageError(f"--with {path}: no such file")
    with Warehouse.open(database) as warehouse:
        chosen = expand(warehouse, testset, lp, human).chosen
    testsets, lps = ({names[at] for names in chosen} for at in (0, 1))
    variant = variant_called(path, lps)
    (one_testset, one_lp) = (names.copy().pop() if len(names) == 1 else None for names in (testsets, lps))
    with trial(database) as copy:
        report = add([path], copy, variant.base_name, reference=variant.reference, testset=one_testset, lp=one_lp)
        for line in (*report.notes, *(f"error: {fault}" for fault in report.faults)):
            note(line)
        if not report.is_clean:
            raise typer.Exit(ExitCode.DATA)
        covered = {(one.testset, one.lp) for one in report.evalsets}
        if lacking := ", ".join(" ".join(one) for one in chosen if one not in covered):
            note(f"{path}: no scores for {lacking}")
        yield copy


def _rank(
    testset: str,
    lp: str,
    flags: SliceFlags,
    compute: ComputeFlags,
    tests: TestFlags,
    output: Output,
    measure: list[str] | None,
    pool: str | None,
    significance: bool,
    explain: bool,
    verbose: bool,
    strict: bool,
) -> None:

    from metaeval.explanation import explanation
    from metaeval.measures import Measure
    from metaeval.ranking import DEFAULT_MEASURES, ranked, read, slices_of
    from warehouse import Warehouse

    measures = list(dict.fromkeys(Measure.parse(text) for text in measure or DEFAULT_MEASURES))
    testing = tests.options()
    if significance and pool is not None:
        raise UsageError("--significance and --pool do not go together; `scorehouse protocol` tests pooled scores")
    asked, options = flags.slice(testset, lp), compute.options()
    with tests.cluster(testing) as testing, progress(output.quiet) as advance:
        with Warehouse.open(output.database) as warehouse:
            if explain:
                slices, _ = slices_of(warehouse, asked)
                if len(slices) > 1:
                    raise UsageError("--explain takes one test set and one language pair")
                output.show_table(explanation(warehouse, slices[0], measures))
                return
            found = read(warehouse, asked, measures, options, testing if significance else None, strict=strict)
        table = ranked(found, pool, database=output.database, verbose=verbose, progress=advance)  # type: ignore[arg-type]
    if output.is_for_reading:
        table = replace(table, frame=_wide(table.frame, measures))
    output.show_table(table)


def _wide(frame: "pl.DataFrame", measures: "list[Measure]") -> "pl.DataFrame":
    """One row a metric, best by the first measure first; for each measure its value, rank and any tie threshold."""
    import polars as pl

    several = frame.select("testset", "lp").n_unique() > 1
    keys = ["testset", "lp", "metric"] if several else ["metric"]
    wide = None
    for measure in measures:
        part = frame.filter(pl.col("measure") == str(measure))
        shown = {"value": str(measure), "rank": f"rank {measure}"}
        optional = ("cluster", "epsilon", "observed_variance", "sampling_variance")
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
    return wide.sort("testset", "lp", maintain_order=True) if several else wide
