"""The report of a load: what was loaded, skipped and refused."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.exit_codes import ExitCode
from cli.hints import MOST_LINES
from cli.options.output import Output
from cli.render import note
from warehouse.wording import NO_LP, are, counted, first_names

if TYPE_CHECKING:
    import polars as pl

    from warehouse import LoadReport

_STATUS = {
    "loaded": "new",
    "added": "further files",
    "replaced": "changed files",
    "updated": "new declarations",
    "unchanged": "unchanged",
    "refused": "refused",
    "removed": "gone",
}
_HAVING = ("added", "replaced", "updated")  # statuses that say what a set has
_SHOWN = 20  # notes on the terminal; --verbose shows all


def show_report(report: "LoadReport", output: Output, verbose: bool, *, is_trial: bool = False) -> None:
    """Show what was loaded, skipped and refused; end with DATA if anything was refused.

    is_trial: nothing was stored.
    """
    said = _sentence(report, is_trial=is_trial)
    output.show(
        _summary(report), digits=2, summary=said, notes=_notes(report, None if is_trial else output.database, verbose)
    )
    for line in output.lines_of(report.faults, None if verbose else MOST_LINES, "; --verbose names them all"):
        note(line)
    if not report.is_clean:
        raise typer.Exit(ExitCode.DATA)


def _sentence(report: "LoadReport", *, is_trial: bool) -> str:
    """How many evaluation sets have which status, and what was read for them."""
    from metaeval.results.sentences import named

    counts = Counter(one.status for one in report.evalsets)
    if not counts:
        return "No scores or texts were found."
    parts: list[str] = []
    for status, n in counts.most_common():
        which = str(n) if parts else counted(n, "evaluation set")
        parts.append(f"{which} {are(n, have=status in _HAVING)} {_STATUS[status]}")
    n_scores, n_files = (sum(getattr(one, name) for one in report.evalsets) for name in ("n_scores", "n_files"))
    read = f": {counted(n_scores, 'segment score')} from {counted(n_files, 'file')}" if n_files else ""
    return f"{'In this dry run, ' if is_trial else ''}{named(parts)}{read}."


def _summary(report: "LoadReport") -> "pl.DataFrame":
    import polars as pl

    schema: dict[str, Any] = dict.fromkeys(("testset", "lp", "status"), pl.String)
    schema |= dict.fromkeys(("files", "unchanged", "broken", "scores", "rows", "missing"), pl.Int64)
    schema |= {"seconds": pl.Float64}
    rows = [
        (e.testset, e.lp, e.status, e.n_files, e.n_unchanged, e.n_broken, e.n_scores, e.n_rows, e.n_missing, e.seconds)
        for e in report.evalsets
    ]
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("seconds").round(2))


def _notes(report: "LoadReport", database: Path | None, verbose: bool) -> list[str]:
    lines = []
    reasons: dict[str, list[str]] = {}
    for path, reason in report.skipped:
        reasons.setdefault(reason, []).append(path)
    for reason, paths in sorted(reasons.items()):
        shown = first_names(paths, len(paths) if verbose else 3)
        lines.append(f"skipped {counted(len(paths), 'file')} ({reason}): {shown}")
    notes = report.notes if verbose else report.notes[:_SHOWN]
    lines += notes
    if len(report.notes) > len(notes):
        lines.append(f"{counted(len(report.notes) - len(notes), 'more note')}; --verbose shows them all")
    of_tasks = sorted({evalset.testset for evalset in report.evalsets if evalset.lp == NO_LP})
    if of_tasks:
        lines.append(f"no language pair: {', '.join(of_tasks)}; if it is translation, remove it and load it with --lp")
    statuses = {evalset.status for evalset in report.evalsets}
    if database is None:
        lines.append("nothing was stored: a dry run")
    elif statuses == {"unchanged"}:
        lines.append(f"nothing to do: {database} already contains all of this; `scorehouse remove` removes it")
    elif statuses - {"refused", "unchanged"}:
        lines.append(f"loaded into {database} in {report.seconds:.1f} s")
    return lines
