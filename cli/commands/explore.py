"""`scorehouse explore`."""

import secrets
import shutil
import socket
import subprocess
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
from cli.explore.serving import HOST, started
from cli.options.data import pairs_called
from cli.options.folding import folded
from cli.options.output import Output
from cli.options.values import number
from cli.render.output import write

_START_TIMEOUT = 30.0  # seconds until the page answers
_STOP_TIMEOUT = 3.0
_POLL_INTERVAL = 0.1
_NOTEBOOK = Path("scorehouse-explore", "scorehouse-explore.py")


@folded
def explore(
    output: Output,
    testset: Annotated[
        str | None,
        typer.Argument(help="Initial test set.", show_default="the newest", autocompletion=complete_testset),
    ] = None,
    lp: Annotated[
        str | None,
        typer.Argument(
            help="Initial language pair.",
            show_default="the first",
            autocompletion=complete_lp,
            callback=pairs_called,
        ),
    ] = None,
    port: Annotated[
        int | None,
        number(int, "--port", least=1, most=65535, help="Port on this machine.", show_default="any free port"),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address; open no browser.")] = False,
    edit: Annotated[
        bool,
        typer.Option("--edit", help=f"Open a copy as a notebook that you can edit, in a new folder here: {_NOTEBOOK}."),
    ] = False,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write the initial page to a file and exit.")
    ] = None,
) -> None:
    """Explore rankings, segments and SQL in the browser.

    The page only reads the warehouse. It is served on this machine only and needs the token in its address. Ctrl-C
    stops it.

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
    port = None if export is not None else _free_port(port)
    with temporary_folder() as folder:  # marimo leaves files beside a notebook
        page = (_copies() if edit else folder) / (_NOTEBOOK.name if edit else source.name)
        shutil.copy(source, page)
        shutil.copy(source.with_name("head.html"), page.parent)
        if export is not None:
            written = folder / "written.html"
            words = ["export", "html", str(page), "--no-include-code", "--force", "-o", str(written)]
            _run(started(["-q", *words, *given, "--waiting", "1"], folder, page.parent, None))
            if not written.exists():
                raise UsageError("marimo wrote no page")
            shutil.copyfile(written, export)
            output.note(f"wrote {export}")
            return
        assert port is not None
        token = secrets.token_urlsafe()
        (folder / "token").write_text(token)
        words = [*(["edit", "--skip-update-check"] if edit else ["run"]), str(page), "--headless"]
        words += ["--host", HOST, "--port", str(port), "--token", "--token-password-file", str(folder / "token")]
        process = started(["-q", *words, *given], folder, page.parent, port)
        with suppress(KeyboardInterrupt):
            _run(process, lambda: _opened(process, port, token, is_shown=not no_browser))


def _copies() -> Path:
    """The new folder for an editable copy: marimo imports modules next to a notebook, and reads its settings there.

    Raises UsageError: the name is taken.
    """
    folder = _NOTEBOOK.parent
    try:
        folder.mkdir()
    except FileExistsError:
        again = f"`marimo edit {_NOTEBOOK} -- --db FILE` opens a copy of yours again"
        raise UsageError(f"{folder} is there already: rename it for a new copy; {again}") from None
    return folder.resolve()


def _free_port(port: int | None) -> int:
    """A free port: this one, or any.

    Raises UsageError: it is not free.
    """
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((HOST, port or 0))
        except OSError as error:
            raise UsageError(f"--port {port}: {error.strerror}; leave it out for any that is free") from None
        return int(one.getsockname()[1])


def _opened(process: "subprocess.Popen[bytes]", port: int, token: str, *, is_shown: bool) -> None:
    """Wait until the page answers, print its address, and show it in a browser."""
    deadline = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
            break
        time.sleep(_POLL_INTERVAL)
    if process.poll() is not None:
        return
    address = f"http://{HOST}:{port}?access_token={token}"
    write(f"{address}\n", None)
    if is_shown:
        webbrowser.open(address)


def _run(process: "subprocess.Popen[bytes]", then: Callable[[], None] = lambda: None) -> None:
    """Wait until marimo ends; it is stopped when this function returns. then: called meanwhile.

    Raises UsageError: it ends with an error.
    """
    with process:
        try:
            then()
            while process.poll() is None:  # behind Polars' handler of Ctrl-C no call that waits is interrupted
                time.sleep(_POLL_INTERVAL)
        finally:
            if process.poll() is None:
                assert process.stdin is not None
                process.stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_STOP_TIMEOUT)
                process.kill()
    if process.returncode > 0:
        raise UsageError(f"marimo ended with exit code {process.returncode}")
