"""The process of the page: marimo, isolated from the working folder, for one address only, until its parent ends."""

import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"
_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from cli.explore.serving import main; main()"
_ROOT = str(Path(__file__).resolve().parents[2])
_REMOVAL = """
import contextlib, os, shutil, sys, time
with contextlib.suppress(OSError, AttributeError):
    os.killpg(int(sys.argv[1]), 9)
for _ in range(30):
    shutil.rmtree(sys.argv[2], ignore_errors=True)
    if not os.path.exists(sys.argv[2]):
        break
    time.sleep(0.1)
"""
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' data: blob: {sockets}; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
_SETTINGS = {".marimo.toml": '[display]\ntheme = "system"\n', "pyproject.toml": ""}
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


def started(words: list[str], folder: Path, place: Path, port: int | None) -> "subprocess.Popen[bytes]":
    """Start marimo with these arguments, in a folder with its configuration; it ends when the pipe to it is closed.

    folder: for everything that the process writes; it removes the folder. port: the port it serves.
    """
    for name, settings in _SETTINGS.items():  # the nearest ones are read
        (place / name).write_text(settings)
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP", "XDG_CONFIG_HOME", "XDG_STATE_HOME"), str(folder))
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM, _ROOT, str(folder), str(port or ""), *words],
        stdin=subprocess.PIPE,
        cwd=place,
        env=environment,
        start_new_session=True,
    )


def main() -> None:
    """Run marimo on the arguments of the command line, after the folder and the port."""
    folder, port, *words = sys.argv[1:]
    pipe, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    threading.Thread(target=_end_with_parent, args=(pipe, folder), daemon=True).start()
    if port:
        _guard_servers(int(port))
    sys.argv = ["marimo", *words]
    from marimo._cli.cli import main as marimo

    marimo(prog_name="marimo")


def _end_with_parent(pipe: int, folder: str) -> None:
    """When the parent has ended for any reason, end this process and those it started, and remove the folder."""
    while os.read(pipe, 1):
        pass
    group = os.getpgrp() if hasattr(os, "getpgrp") else 0
    words = [sys.executable, "-I", "-c", _REMOVAL, str(group), folder]
    subprocess.Popen(words, cwd=Path(folder).parent, stdin=subprocess.DEVNULL, start_new_session=True)
    os._exit(0)


def _guard_servers(port: int) -> None:
    """Have every server of this process answer as `guarded` says."""
    import uvicorn

    made = uvicorn.Config.__init__

    def make(config: uvicorn.Config, app: Any, *args: Any, **kwargs: Any) -> None:
        made(config, guarded(app, port), *args, **kwargs)

    uvicorn.Config.__init__ = make  # type: ignore[method-assign, assignment]


def guarded(app: App, port: int) -> App:
    """An application that answers only under its own address, to its own pages, which reach no other address.

    Other names of this machine are refused, as a stranger's domain may be one.
    """
    hosts = {f"{name}:{port}".encode() for name in (HOST, "localhost")}
    origins = {b"http://" + host for host in hosts}
    policy = _POLICY.format(sockets=" ".join(f"ws://{host.decode()}" for host in sorted(hosts)))

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await app(scope, receive, send)
        elif not _is_own(scope["headers"], hosts, origins):
            await _refuse(scope, receive, send)
        else:
            await app(scope, receive, _confining(send, policy.encode()))

    return answer


def _is_own(headers: list[tuple[bytes, bytes]], hosts: set[bytes], origins: set[bytes]) -> bool:
    found: Mapping[bytes, set[bytes]] = {
        name: {value.lower() for key, value in headers if key == name} for name in (b"host", b"origin")
    }
    return len(found[b"host"]) == 1 and found[b"host"] <= hosts and found[b"origin"] <= origins


async def _refuse(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"this page answers under its own address alone\n"})


def _confining(send: Send, policy: bytes) -> Send:
    """A `send` that keeps pages from reaching any other host, whatever a text in them asks for."""

    async def confined(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"content-security-policy", policy)]
        await send(message)

    return confined
