"""`scorehouse download`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.exit_codes import UsageError
from cli.load_report import show_report
from cli.options.data import SkipBroken
from cli.options.folding import folded
from cli.options.output import Output
from cli.render.output import progress
from warehouse.wording import counted

if TYPE_CHECKING:
    from warehouse.download.release import DownloadReport


@folded
def download(
    output: Output,
    testsets: Annotated[
        list[str] | None, typer.Argument(help="Test sets, such as wmt23; all if none is named.")
    ] = None,
    only: Annotated[str | None, typer.Option("--only", hidden=True)] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the archive and its files.")] = False,
    url: Annotated[
        list[str] | None,
        typer.Option(
            "--url", metavar="TEXT...", help="URL of the archive; repeatable.", show_default="the organisers'"
        ),
    ] = None,
    archive: Annotated[
        Path | None, typer.Option("--folder", help="Folder for the archive.", show_default="next to the warehouse")
    ] = None,
    skip_broken: SkipBroken = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be downloaded, and where.")] = False,
) -> None:
    """Download the organisers' archive and load it.

    The archive contains all test sets. Interrupted downloads are resumed.

    Example: scorehouse download wmt23 wmt24 --dry-run
    """
    from warehouse.download.release import ADDRESSES, ARCHIVE, download_folder
    from warehouse.download.release import download as fetch_and_load

    database = output.database
    chosen = [*(testsets or []), *(name for name in (only or "").split(",") if name)] or None
    place = archive or download_folder(database)
    urls = tuple(url) if url else ADDRESSES
    if wrong := [address for address in urls if not address.startswith(("https://", "http://"))]:
        raise UsageError(f"{wrong[0]}: expected an address that begins with https:// or http://")
    if dry_run:
        _show_plan(output, urls, place / ARCHIVE, chosen)
        return
    try:
        with progress(output.quiet) as advance:
            report = fetch_and_load(
                database,
                chosen,
                urls=urls,
                folder=place,
                keep=keep,
                skip_broken=skip_broken,
                progress=advance,
            )
    except KeyboardInterrupt:
        output.note(f"the part already downloaded is in {place}; the same command resumes it")
        raise
    _note_fetched(output, report)
    show_report(report.load, output, output.verbose)


def _show_plan(output: Output, urls: tuple[str, ...], archive: Path, testsets: list[str] | None) -> None:
    import polars as pl

    part = archive.with_name(archive.name + ".part")
    here = archive if archive.is_file() else part
    rows = [(url, str(archive), here.stat().st_size if here.is_file() else 0) for url in urls]
    schema = {"url": pl.String, "archive": pl.String, "bytes_here": pl.Int64}
    wanted = "all test sets" if testsets is None else ", ".join(testsets)
    output.show(pl.DataFrame(rows, schema=schema, orient="row"), notes=[f"would load {wanted} into {output.database}"])


def _note_fetched(output: Output, report: "DownloadReport") -> None:
    fetched = report.fetched
    how = "downloaded" if fetched.is_fresh else "was there already"
    if fetched.n_resumed:
        how += f", {fetched.n_resumed} bytes of it earlier"
    output.note(f"{fetched.url}: {fetched.n_bytes} bytes, SHA-256 {fetched.sha256}; {how}")
    output.note(f"unpacked {counted(report.n_files, 'file')}")
    if report.kept:
        output.note(f"kept: {', '.join(map(str, report.kept))}")
