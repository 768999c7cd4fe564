"""Progress of a load."""

import threading
from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is


class Gauge:
    """Progress over all evaluation sets; it never decreases."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._showing = threading.Lock()

    def show(self, what: str, n_bytes: float = 0) -> None:
        """Show the current step, and add to the bytes done."""
        with self._showing:
            self._done = min(self._total, self._done + round(n_bytes))
            if self._progress is not None:
                self._progress(what, self._done, self._total)
