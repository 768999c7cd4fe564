"""`scorehouse sql`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.exit_codes import UsageError
from cli.options import Output, folded

_WAYS = "give one as an argument, with --file, or on stdin; --schema shows the tables"


@folded
def sql(
    output: Output,
    query: Annotated[str | None, typer.Argument(help="One SELECT; - or none reads it from stdin.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read the query from a file.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME VALUE", help="Value of $NAME in the query; repeatable."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.001, help="Time limit in seconds.")] = 60.0,
    memory: Annotated[str, typer.Option(help="Memory limit.")] = "4GB",
    schema: Annotated[
        bool,
        typer.Option("--schema", help="Print the data dictionary, or one view, macro or table of it: --schema NAME."),
    ] = False,
) -> None:
    """Run your own SQL: read-only, without files or network, within limits of time and memory.

    Example: scorehouse sql "SELECT testset, lp, n_systems FROM evalsets ORDER BY ALL"
    """
    from warehouse import Warehouse

    if schema:
        if file is not None:
            raise UsageError("--schema takes the name of a view, macro or table, and no --file")
        from cli.render.dictionary import dictionary_text
        from queries.dictionary import dictionary

        with Warehouse.open(output.database) as warehouse:
            found = dictionary(warehouse, query)
        output.show(found, page=dictionary_text(found))
        return
    from queries.adhoc import answer
    from queries.adhoc import parameter as value_of

    text = _query(query, file)
    values = {}
    for pair in parameter or []:
        name, _, value = pair.partition("=")
        values[name] = value_of(value)
    output.show(answer(output.database, text, values, timeout=timeout, memory=memory), digits=6)


def _query(query: str | None, file: Path | None) -> str:
    if query is not None and file is not None:
        raise UsageError("give the query as an argument or with --file, not both")
    if file is not None:
        try:
            return _text(file.read_text(encoding="utf-8"), str(file))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file}: cannot be read: {error}") from error
    if query is not None and query != "-":
        return query
    if sys.stdin is None or (sys.stdin.isatty() and query is None):
        raise UsageError(f"no query: {_WAYS}")
    try:
        return _text(sys.stdin.read(), "stdin")
    except UnicodeDecodeError as error:
        raise UsageError(f"stdin: cannot be read: {error}") from error


def _text(query: str, where: str) -> str:
    if not query.strip():
        raise UsageError(f"{where}: empty, expected a query; {_WAYS}")
    return query
