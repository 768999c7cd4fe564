"""A server on the loopback address that hands out one file, well or badly, and remembers what it was asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Served:
    """What the server does; it can be changed while it runs.

    cuts: after how many bytes of the body the connection ends, one for each answer in turn (then no more cuts).
    announced: length that is claimed, where it is not the true one. status: answer with this error instead.
    """

    content: bytes
    etag: str | None = '"one"'
    modified: str | None = None
    resumes: bool = True
    cuts: list[int] = field(default_factory=list)
    announced: int | None = None
    status: int | None = None
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    @property
    def ranges(self) -> list[str | None]:
        return [request.get("range") for request in self.asked]


def _handler(served: Served) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            asked = {name.lower(): value for name, value in self.headers.items()}
            served.asked.append(asked)
            if served.status is not None:
                self.send_error(served.status)
                return
            start = self._start(asked)
            if start is None:
                return
            body = served.content[start:]
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(served.content) - 1}/{len(served.content)}")
            length = len(body) if served.announced is None else served.announced - start
            self.send_header("Content-Length", str(length))
            self._send_validators()
            self.end_headers()
            if served.cuts:
                body = body[: served.cuts.pop(0)]
            self.wfile.write(body)
            self.close_connection = True

        def _send_validators(self) -> None:
            if served.etag:
                self.send_header("ETag", served.etag)
            if served.modified:
                self.send_header("Last-Modified", served.modified)

        def _start(self, asked: dict[str, str]) -> int | None:
            """First byte to send; None where the answer is out already."""
            condition = asked.get("if-range")
            if "range" not in asked or not served.resumes:
                return 0
            if condition is not None and condition not in (served.etag, served.modified):
                return 0
            start = int(asked["range"].removeprefix("bytes=").partition("-")[0])
            if start >= len(served.content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(served.content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return None
            return start

    return Handler


@contextmanager
def serving(content: bytes, **how: object) -> Iterator[Served]:
    """Serve some bytes for as long as the block runs; see `Served`."""
    served = Served(content, **how)  # type: ignore[arg-type]
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(served))
    served.url = f"http://127.0.0.1:{server.server_port}/scores.tgz"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
