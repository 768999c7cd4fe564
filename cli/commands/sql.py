"""`scorehouse sql`."""

import sys
import textwrap
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from cli.completion import complete_query
from cli.exit_codes import UsageError
from cli.options.folding import folded
from cli.options.output import Output
from cli.options.values import number
from cli.render.cells import one_line
from queries.limits import LONGEST

if TYPE_CHECKING:
    import polars as pl

WIDTH = 100
_INDENT = 2


def dictionary_text(frame: "pl.DataFrame") -> str:
    """A paragraph for each view, macro and table, with one or more lines per column; no line is longer than WIDTH.

    frame: as `queries.listing.dictionary` gives it.
    """
    parts = _views(frame)
    columns = frame.filter(frame["column"].is_not_null())
    names = max((len(name) for name in columns["column"]), default=0)
    kinds = max((len(kind) for kind in columns["type"]), default=0)
    for row in frame.iter_rows(named=True):
        row = {name: None if text is None else one_line(text) for name, text in row.items()}
        if row["column"] is None:
            parts += ["" for _ in parts[:1]]
            parts += _wrapped(f"{row['kind']} {row['name']}", " " * _INDENT)
            parts += _wrapped(row["meaning"], " " * _INDENT, first=" " * _INDENT)
        else:
            first = f"{' ' * _INDENT}{row['column']:<{names}}  {row['type']:<{kinds}}  "
            parts += _wrapped(row["meaning"], " " * len(first), first=first)
    return "".join(f"{line}\n" for line in parts)


def _views(frame: "pl.DataFrame") -> list[str]:
    """A line for each view with the first sentence of its description, if there are several."""
    views = frame.filter(kind="view").filter(frame.filter(kind="view")["column"].is_null())
    if views.height < 2:
        return []
    names = max(len(name) for name in views["name"])
    said = [
        (name, one_line(meaning or "").partition(". ")[0].rstrip("."))
        for name, meaning in zip(*(views[one] for one in ("name", "meaning")), strict=True)
    ]
    lines = [f"{name:<{names}}  {text}" for name, text in said]
    return [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in lines]


def _wrapped(text: str, indent: str, *, first: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent)


_ROWS_OF_A_TABLE = 1_000_000
_MOST_TEXT = 10_000_000  # bytes
_WAYS = "give one as an argument, with --file, or on stdin; --schema shows the tables"


@folded
def sql(
    output: Output,
    query: Annotated[
        str | None,
        typer.Argument(
            help="One SELECT statement. Without it, or with -, the query is read from stdin.",
            autocompletion=complete_query,
        ),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read the query from a file.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME VALUE", help="Value of $NAME in the query; repeatable."),
    ] = None,
    timeout: Annotated[
        float, number(float, "--timeout", least=0.001, most=LONGEST, help="Time limit in seconds.")
    ] = 60.0,
    memory: Annotated[str, typer.Option(help="Memory limit.")] = "4GB",
    spill: Annotated[str, typer.Option(help="Limit on temporary disk space.")] = "2GB",
    max_rows: Annotated[
        int | None,
        number(
            int,
            "--max-rows",
            "-n",
            least=1,
            help="Maximum number of rows. A table on stdout is cut there; in any other format, a larger answer is an "
            "error.",
            show_default="1,000,000 for a table on stdout",
        ),
    ] = None,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", help="Print the data dictionary, or describe one view, macro or table: --schema NAME."
        ),
    ] = False,
    example: Annotated[
        bool,
        typer.Option(
            "--example",
            help="Print and run an example from the cookbook: --example NAME. Without NAME, list the examples.",
        ),
    ] = False,
) -> None:
    """Run your own SQL: read-only, no files, no network.

    Time and memory are limited.

    Large answers: -o FILE.parquet, csv, tsv, json or jsonl writes the rows as they come.

    Example: scorehouse sql "SELECT testset, lp, n_systems FROM evalsets ORDER BY ALL"
    """
    if example:
        if schema or file is not None:
            raise UsageError("--example takes the name of an example, and neither --schema nor --file")
        if query in (None, "list"):
            output.show(_examples())
            return
        query = _example(str(query), output)
    if schema:
        if file is not None:
            raise UsageError("--schema takes the name of a view, macro or table, and no --file")
        from queries.listing import dictionary
        from warehouse import Warehouse

        with Warehouse.open(output.database) as warehouse:
            found = dictionary(warehouse, query)
        output.show(found, page=dictionary_text(found))
        return
    from queries.adhoc import answer_in_file
    from queries.adhoc import parameter as value_of

    text = _query(query, file)
    values = {}
    for pair in parameter or []:
        name, _, value = pair.partition("=")
        values[name] = value_of(value)
    is_for_reading = output.is_for_reading and not output.is_to_file
    most = _ROWS_OF_A_TABLE if max_rows is None and is_for_reading else max_rows
    with output.streamed() as into:
        limits: dict[str, Any] = {"timeout": timeout, "memory": memory, "spill": spill}
        answered, is_cut = answer_in_file(into, most, output.database, text, values, **limits)
        if is_cut and not is_for_reading:
            from warehouse import LimitError

            raise LimitError(f"the answer has more rows than {most:,}; --max-rows allows more, LIMIT asks for fewer")
    if isinstance(answered, int):
        output.note_rows(answered)
        return
    notes = [f"cut after row {most:,}; --max-rows allows more"] if is_cut else []
    output.show(answered, digits=6, notes=notes)


def _examples() -> "pl.DataFrame":
    """The cookbook's examples: name and question."""
    import polars as pl

    from queries.cookbook import recipes

    return pl.DataFrame({"example": list(recipes()), "question": [one.title for one in recipes().values()]})


def _example(name: str, output: Output) -> str:
    """The query of an example, which is also shown on stderr."""
    from queries.cookbook import recipe

    found = recipe(name)
    for line in (f"-- {found.question}", *found.query.splitlines()):
        output.note(line)
    return found.query


def _query(query: str | None, file: Path | None) -> str:
    if query is not None and file is not None:
        raise UsageError("give the query as an argument or with --file, not both")
    if file is not None:
        try:
            with file.open("rb") as opened:
                return _text(opened, str(file))
        except OSError as error:
            raise UsageError(f"--file {file}: cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"--file {file}: cannot be read: {error}") from error
    if query is not None and query != "-":
        return query
    if sys.stdin is None or (sys.stdin.isatty() and query is None):
        raise UsageError(f"no query: {_WAYS}")
    try:
        return _text(sys.stdin.buffer, "stdin")
    except UnicodeDecodeError as error:
        raise UsageError(f"stdin: cannot be read: {error}") from error


def _text(file: IO[bytes], where: str) -> str:
    """The query in a file, which may have no end."""
    content = file.read(_MOST_TEXT + 1)
    if len(content) > _MOST_TEXT:
        raise UsageError(f"{where}: more than {_MOST_TEXT:,} bytes, expected a query")
    query = content.decode("utf-8")
    if not query.strip():
        raise UsageError(f"{where}: empty, expected a query; {_WAYS}")
    return query
