"""The program: its commands, and how it ends."""

import sys
from typing import Annotated

import typer

from cli.commands.audit import audit
from cli.commands.compare import compare
from cli.commands.compute import compute
from cli.commands.correlations import correlations
from cli.commands.counts import counts
from cli.commands.demo import demo
from cli.commands.download import download
from cli.commands.export import export
from cli.commands.listing import list_
from cli.commands.load import load, migrate
from cli.commands.means import means
from cli.commands.own import add, remove
from cli.commands.protocol import protocol
from cli.commands.protocols import protocols
from cli.commands.rank import rank
from cli.commands.show import show
from cli.commands.sql import sql
from cli.commands.systems import systems
from cli.commands.thresholds import thresholds
from cli.commands.ties import ties
from cli.commands.trend import trend
from cli.commands.unload import unload
from cli.ending import run_program
from cli.options import Db, FormatOption, Out, Quiet
from cli.render.output import write

app = typer.Typer(
    name="scorehouse",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
COMMANDS = {
    "demo": demo,
    "load": load,
    "list": list_,
    "show": show,
    "rank": rank,
    "compare": compare,
    "protocol": protocol,
    "protocols": protocols,
    "trend": trend,
    "systems": systems,
    "means": means,
    "counts": counts,
    "ties": ties,
    "thresholds": thresholds,
    "correlations": correlations,
    "audit": audit,
    "compute": compute,
    "add": add,
    "remove": remove,
    "unload": unload,
    "download": download,
    "export": export,
    "sql": sql,
    "migrate": migrate,
}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        write(f"scorehouse {version('scorehouse')}\n", None)
        raise typer.Exit


@app.callback()
def main(
    db: Db = None,
    format: FormatOption = None,
    output: Out = None,
    quiet: Quiet = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Every score of every WMT metrics shared task in one file, and the statistics that say which metric to trust."""
    # the options are read where a command's own are: `cli.options.Output.of`


def exit_code(arguments: list[str] | None = None) -> int:
    """Run the program; errors that a user can mend become one line on stderr and an exit code."""
    return run_program(app, sys.argv[1:] if arguments is None else arguments)
