"""`scorehouse explore`."""

import secrets
import shutil
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from cli.completion import complete_lp, complete_testset
from cli.exit_codes import UsageError, check_extra
from cli.options.data import pairs_called
from cli.options.folding import folded
from cli.options.output import Output
from cli.options.values import number
from cli.render.output import write

_HOST = "127.0.0.1"
_PATIENCE = 30.0  # seconds until the page answers
_NOTEBOOK = Path("scorehouse-explore.py")


@folded
def explore(
    output: Output,
    testset: Annotated[
        str | None,
        typer.Argument(help="Test set to begin with.", show_default="the newest", autocompletion=complete_testset),
    ] = None,
    lp: Annotated[
        str | None,
        typer.Argument(
            help="Language pair to begin with.",
            show_default="the first",
            autocompletion=complete_lp,
            callback=pairs_called,
        ),
    ] = None,
    port: Annotated[
        int | None,
        number(int, "--port", least=1, most=65535, help="Port on this machine.", show_default="any that is free"),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address; open no browser.")] = False,
    edit: Annotated[
        bool, typer.Option("--edit", help=f"Open a copy, {_NOTEBOOK} here, as a notebook to change.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Instead, write the page as it opens to a file.")
    ] = None,
) -> None:
    """Open a page in the browser that answers while you look: rankings, comparisons, segments, SQL.

    The page reads the warehouse, is seen on this machine alone, and needs the token in its address. Ctrl-C ends it.

    Example: scorehouse explore sim24 en-de --export page.html
    """
    if output.output is not None or output.format is not None:
        raise UsageError("explore opens a page; --export FILE writes it")
    check_extra("explore needs", "explore", "marimo", "altair")
    from queries.listing import listing
    from warehouse import Warehouse
    from warehouse.temporary import temporary_folder

    with Warehouse.open(output.database) as warehouse:
        listing(warehouse, "lps", testset, lp)  # refuses unknown names
    source = Path(str(files("cli.explore") / "page.py"))
    given = ["--", "--db", str(output.database.resolve())]
    given += [word for name, value in (("testset", testset), ("lp", lp)) if value for word in (f"--{name}", value)]
    marimo = [sys.executable, "-m", "marimo", "-q"]
    if edit and not _NOTEBOOK.exists():
        notebook = source.read_text(encoding="utf-8").replace(', html_head_file="head.html"', "")
        _NOTEBOOK.write_text(notebook, encoding="utf-8")
    with temporary_folder() as folder:  # marimo leaves files beside a notebook
        page = _NOTEBOOK.resolve() if edit else Path(shutil.copy(source, folder))
        shutil.copy(source.with_name("head.html"), folder)
        if export is not None:
            words = [*marimo, "export", "html", str(page), "--no-include-code", "--force", "-o", str(export)]
            _run([*words, *given, "--waiting", "1"])
            output.note(f"wrote {export}")
            return
        port, token = port or _free_port(), secrets.token_urlsafe()
        words = [*marimo, *(["edit", "--skip-update-check"] if edit else ["run"]), str(page), "--headless"]
        words += ["--host", _HOST, "--port", str(port), "--token", "--token-password-file", "-"]
        _run([*words, *given], token, lambda: _opened(port, token, is_shown=not no_browser))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((_HOST, 0))
        return int(one.getsockname()[1])


def _opened(port: int, token: str, *, is_shown: bool) -> None:
    """Wait until the page answers, print its address, and show it in a browser."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        with suppress(OSError), socket.create_connection((_HOST, port), timeout=1):
            break
        time.sleep(0.1)
    address = f"http://{_HOST}:{port}?access_token={token}"
    write(f"{address}\n", None)
    if is_shown:
        webbrowser.open(address)


def _run(words: list[str], token: str = "", then: Callable[[], None] = lambda: None) -> None:
    """Run marimo until it ends, or until Ctrl-C ends it. then: what is done meanwhile."""
    with subprocess.Popen(words, stdin=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdin is not None
            with process.stdin as stdin:
                stdin.write(token)
            then()
            process.wait()
        except KeyboardInterrupt:
            process.terminate()
    if process.returncode > 0:
        raise UsageError(f"marimo ended with exit code {process.returncode}")
