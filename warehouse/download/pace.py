"""How long a server may take: an answer's header within a time, and its body at a rate."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Patience:
    """seconds: without a byte, for a whole header, and over which the rate is measured; least_bytes: in these."""

    seconds: float = 30.0
    least_bytes: int = 30_000


class Pace:
    """The rate of one body."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._since = time.monotonic()
        self._n_bytes = 0

    def add(self, n_bytes: int) -> None:
        """Note bytes that came. Raises TimeoutError: too few of them since the last look."""
        self._n_bytes += n_bytes
        seconds = time.monotonic() - self._since
        if seconds < self._patience.seconds:
            return
        if self._n_bytes < self._patience.least_bytes:
            raise TimeoutError(f"{self._n_bytes} bytes in {seconds:.0f} s")
        self._since, self._n_bytes = time.monotonic(), 0


def within(seconds: float, action: Callable[[], Result]) -> Result:
    """The result of an action that is given up after some seconds: a server may say its header a byte at a time.

    Raises TimeoutError: it took longer; the thread that it runs in ends with the process at the latest, and what it
    comes to is closed.
    """
    done: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()
    given_up = threading.Event()

    def run() -> None:
        try:
            result = action()
        except BaseException as error:
            done.put((None, error))
            return
        done.put((result, None))
        if given_up.is_set() and hasattr(result, "close"):
            result.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if done.empty():
        given_up.set()
        raise TimeoutError(f"no complete header within {seconds:.0f} s")
    result, error = done.get()
    if error is not None:
        raise error
    return result  # type: ignore[return-value]
