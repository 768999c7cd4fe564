"""Where the warehouse is, and where results go: options allowed before or after the name of a command."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from cli.exit_codes import UsageError
from cli.hints import fault_lines, in_flags, is_for, options_of
from cli.options.values import choice
from cli.render import Format, format_for, is_for_reading, note, note_rows, render
from cli.render.output import fresh_file, is_file, notes_width, takes_its_place, terminal_width
from warehouse.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from metaeval.results.answer import Answer
    from warehouse import Fault

Db = Annotated[
    Path | None,
    typer.Option(
        "--db", help="The warehouse file.", show_default="$SCOREHOUSE_DB, else a file in the user's data folder"
    ),
]
From = Annotated[
    Path | None,
    typer.Option(
        "--from",
        metavar="DIR",
        help="Read this folder of exported Parquet (`scorehouse export DIR`), or s3://BUCKET/PREFIX, instead of the "
        "warehouse.",
    ),
]
Workers = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="ADDRESS",
        help="With --from: ask about each evaluation set on the workers of this Dask scheduler (extra dask).",
    ),
]
FormatOption = Annotated[str | None, choice(tuple(Format), "--format", help="Output format.", show_default="table")]
Out = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Output file; its extension chooses the format unless --format does."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print data and errors only, no notes or progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show all notes and names, and full signatures.")]
EveryRow = Annotated[bool, typer.Option("--all", help="Show all rows.")]
NoPager = Annotated[bool, typer.Option("--no-pager", help="Print long results without a pager.")]
SafeCells = Annotated[
    bool,
    typer.Option("--safe-cells", help="In csv and tsv, put ' before text that a spreadsheet would read as a formula."),
]


@dataclass(frozen=True)
class Output:
    """Where the warehouse is, and how results are written."""

    db: Db = None
    format: FormatOption = None
    output: Out = None
    quiet: Quiet = False
    safe_cells: SafeCells = False
    verbose: Verbose = False
    every_row: EveryRow = False
    no_pager: NoPager = False
    is_page = False
    _options = frozenset[str]()  # of the command

    @classmethod
    def of(cls, context: typer.Context, **own: Any) -> Self:
        """The options of a command: its own, else those before its name.

        Raises UsageError: see `format_for`; also --safe-cells for a format without cells. Raised before anything is
        computed.
        """
        before = context.find_root().obj
        given: dict[str, Any] = {
            item.name: own.get(item.name) or before.get(item.name, item.default) for item in fields(cls)
        }
        made = cls(**given)
        object.__setattr__(made, "_options", options_of(context.command))
        if made.is_page:
            if made.format:
                raise UsageError("--format is for tables; the report is a page")
        elif format_for(made.format, made.output) not in (Format.CSV, Format.TSV) and made.safe_cells:
            raise UsageError("--safe-cells is for --format csv and tsv")
        return made

    @property
    def database(self) -> Path:
        """The warehouse: as the command line names it, else the environment, else in the user's data folder."""
        import os

        if named := self.db or os.environ.get("SCOREHOUSE_DB"):
            return Path(named)
        from warehouse import default_path

        return default_path()

    def lines_of(self, faults: "Sequence[Fault]", n_shown: int | None, more: str = "") -> list[str]:
        """See `fault_lines`."""
        return fault_lines(faults, self._options, n_shown, more)

    def note(self, line: str) -> None:
        """Write a one-line note to stderr."""
        note(line, quiet=self.quiet)

    @property
    def is_for_reading(self) -> bool:
        """Whether the result is for reading, and not for programs."""
        return self.is_page or is_for_reading(format_for(self.format, self.output))

    @property
    def is_for_terminal(self) -> bool:
        """Whether the result goes to a terminal, which can show bold text."""
        return terminal_width(self.output) is not None

    @property
    def width(self) -> int | None:
        """Columns of the terminal that the result goes to; None elsewhere."""
        return terminal_width(self.output)

    @property
    def is_to_file(self) -> bool:
        """Whether the result goes to a file, and not to stdout."""
        return is_file(self.output)

    @contextmanager
    def streamed(self) -> Iterator[tuple[Path, str] | None]:
        """The path and format of rows written to a file as they come, which is then the result's; None otherwise."""
        from queries.adhoc_process import KINDS

        kind = format_for(self.format, self.output)
        if self.output is None or kind not in KINDS or self.safe_cells or not takes_its_place(self.output):
            yield None
            return
        with fresh_file(self.output) as fresh:
            yield fresh, kind.value

    def note_rows(self, n_rows: int) -> None:
        """Say how many rows are in the file."""
        note_rows(n_rows, self.output, quiet=self.quiet)

    def show(self, frame: "pl.DataFrame", **more: Any) -> None:
        """Write a result; see `cli.render.render`."""
        for name in ("notes", "first"):
            more[name] = [self._without_foreign_hint(note) for note in more.get(name, ())]
        more.setdefault("verbose", self.verbose)
        more.setdefault("every_row", self.every_row)
        more.setdefault("is_paged", not self.no_pager)
        render(frame, self.format, out=self.output, quiet=self.quiet, safe_cells=self.safe_cells, **more)

    def _without_foreign_hint(self, note: str) -> str:
        """A note, without its hint if that names options that the command does not have."""
        hint = getattr(note, "hint", "")  # of `metaeval.results.notes.NoteWithHint`
        return note if is_for(self._options, hint) else note.text  # type: ignore[attr-defined]

    def _without_details(self, notes: tuple[str, ...], details: frozenset[str]) -> tuple[str, ...]:
        """Notes, with those on single evaluation sets counted instead; a terminal shortens notes in its own way."""
        n = 0 if self.verbose or notes_width() is not None else len(details.intersection(notes))
        if not n:
            return notes
        count = f"{counted(n, 'more note')} on single evaluation sets: -v"
        return (*(one for one in notes if one not in details), count)

    def show_answer(self, answer: "Answer[Any]", **more: Any) -> None:
        """Write an answer with its signature and notes; more: as of `show`."""
        if answer.digits is not None:
            more.setdefault("digits", answer.digits)
        frame, notes = answer.frame, answer.notes
        if self.is_for_reading:
            read = answer.for_reading()
            frame, notes = read.frame, self._without_details(read.notes, answer.facts.get("details", frozenset()))
        least = {name: value for name, value in answer.least.items() if name in frame.columns}
        shape = answer.shape
        if isinstance(shape, Mapping):
            shape = {**shape, "summary": in_flags(answer.summary)}
        if self.is_for_reading and not self.quiet:  # the summary begins such output
            notes = tuple(one for one in notes if not answer.is_said(one))
            if frame.is_empty() and answer.summary:  # which says it all; a table has only its head
                more.setdefault("page", "")
        more.setdefault("json_shape", shape)
        more.setdefault("first", [one for one in answer.partial if one in notes])
        more.setdefault("short", answer.short_signature())
        more.setdefault("summary", answer.summary)
        more.setdefault("important", answer.question.answer_columns)
        signature = answer.signature.splitlines()
        self.show(frame, signature=signature, notes=notes, title=answer.title, least=least or None, **more)


@dataclass(frozen=True)
class QuestionOutput(Output):
    """Where a question finds its scores, and how its answer is written."""

    folder: From = None
    workers: Workers = None

    def __post_init__(self) -> None:
        if self.workers is not None and self.folder is None:
            raise UsageError("--workers needs --from, a folder that all of them can read")
        if self.folder is not None and self.db is not None:
            raise UsageError("--from and --db cannot be combined")

    @property
    def database(self) -> Path:
        """The folder of an export if one is named, else the warehouse."""
        if self.folder is None:
            return super().database
        from warehouse.database.buckets import located

        return located(self.folder)

    @property
    def stored_in(self) -> Path | None:
        """The warehouse that keeps results; None if a folder is read, which is never changed."""
        return None if self.folder is not None or self.database.is_dir() else self.database


@dataclass(frozen=True)
class PageOutput(QuestionOutput):
    """Where a page is written; a page has no other format."""

    format: Annotated[str | None, typer.Option("--format", hidden=True)] = None
    verbose: Annotated[bool, typer.Option("--verbose", "-v", hidden=True)] = False
    every_row: Annotated[bool, typer.Option("--all", hidden=True)] = False
    no_pager: Annotated[bool, typer.Option("--no-pager", hidden=True)] = False
    is_page = True


if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class ChartFlags:
    """Where a chart of the result goes.

    Raises UsageError: charts cannot be written to such a file; raised before anything is computed.
    """

    chart: Annotated[
        Path | None,
        typer.Option(help="Draw the result: FILE.svg, .pdf, .png, .html or .json (Vega-Lite); needs the report extra."),
    ] = None
    no_signature: Annotated[
        bool, typer.Option("--no-signature", help="Omit the signature from the chart, for example for a paper.")
    ] = False

    def __post_init__(self) -> None:
        if self.chart is not None:
            from cli.charts.drawing import check_chart

            check_chart(self.chart)
        elif self.no_signature:
            raise UsageError("--no-signature does nothing without --chart")

    def draw(self, output: Output, chart: "Callable[[], alt.VConcatChart]") -> None:
        """Draw the chart, if one is wanted, and say so."""
        if self.chart is not None:
            from cli.charts.drawing import draw

            draw(chart(), self.chart, has_signature=not self.no_signature)
            output.note(f"chart written to {self.chart}")


@dataclass(frozen=True)
class VerdictFlags:
    """Where the verdicts of a comparison of two versions go, in addition to its table."""

    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --gate: write the verdicts as JUnit XML, too.")
    ] = None

    def write(self, output: Output, answer: "Answer[Any]") -> None:
        """Write the file, if one is wanted, and say so."""
        if self.junit is None:
            return
        from cli.render.junit import junit_text
        from cli.render.output import write
        from metaeval.studies.significance.gate import verdicts

        cases, at = {}, 0
        for one in answer.results:
            row = answer.frame.row(at, named=True)
            place = f"{row['testset']} {row['lp']}: " if "testset" in row else ""
            for scorer, sentence in verdicts(one).items():
                cases[f"{place}{scorer}"] = (f"{place}{sentence}", scorer in one.facts["deciding"])
            at += one.frame.height
        write(junit_text(f"{row['new']} against {row['old']}", cases, answer.signature), self.junit)
        output.note(f"verdicts written to {self.junit}")
