"""`scorehouse means`."""

from cli.options import EngineFlags, Lp, Output, SliceFlags, Testset, folded
from cli.progress import progress


@folded
def means(testset: Testset, lp: Lp, flags: SliceFlags, engines: EngineFlags, output: Output) -> None:
    """Show system scores of every scorer: submitted, mean over all segments, mean over annotated segments, coverage.

    Example: scorehouse means sim24 en-de --metrics "Kestrel*"
    """
    from metaeval.tables.means import system_means

    with engines.data(output.database) as data, progress(output.quiet) as advance:
        found = system_means(
            data,
            flags.slice(testset, lp),
            engines.engine or "polars",  # type: ignore[arg-type]
            progress=advance,
        )
    output.show_table(found)
