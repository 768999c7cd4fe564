"""Run a function in a fresh process again and again: wall seconds, peak memory, and a table against a baseline.

A case is a function at the top level of a module. `prepare` (optional) makes its argument outside the measured time,
but inside the same process, so that imports and simulated data do not count as time. They do count towards peak memory,
so the peak before the run is shown next to it.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024
"""Unit of the peak memory that the system tells."""


def real_data() -> Path | None:
    """The folder of WMT23 in the organisers' layout, if it is there."""
    named = os.environ.get("SCOREHOUSE_TEST_DATA") or str(ROOT / ".." / "shared" / "data")
    folder = Path(named) / "mt-metrics-eval-v2" / "wmt23"
    return folder.resolve() if folder.is_dir() else None


def nothing() -> None:
    """No preparation."""


@dataclass(frozen=True)
class Case:
    """One line of the table.

    name: what is measured. run: the function, given what `prepare` returns. target: upper limit in seconds, if any.
    scale: factor from the measured seconds to the whole work, if only a slice of a slow baseline is run; the table says
    so. baseline: name of the case that this one is compared with. most_mb: upper limit of peak memory, if any.
    """

    name: str
    run: Callable[[Any], Any]
    prepare: Callable[[], Any]
    target: float | None = None
    scale: float = 1.0
    baseline: str | None = None
    repeats: int = 3
    most_mb: float | None = None


@dataclass(frozen=True)
class Measurement:
    """seconds: the median over the repeats, scaled. peak_mb: highest resident memory of the process.
    ready_mb: the same before the first run."""

    seconds: float
    peak_mb: float
    ready_mb: float


def measure(case: Case) -> Measurement:
    """Run the case in a fresh process; the first run counts as one of the repeats.

    Raises RuntimeError: the process ended without a result.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(case, sender))
    process.start()
    sender.close()
    try:
        seconds, ready_mb, peak_mb = receiver.recv()
    except EOFError:
        process.join()
        raise RuntimeError(f"{case.name!r} ended with exit code {process.exitcode}") from None
    process.join()
    return Measurement(statistics.median(seconds) * case.scale, peak_mb, ready_mb)


def _child(case: Case, sender: Any) -> None:
    argument = case.prepare()
    ready_mb = _peak_mb()
    seconds = []
    for _ in range(case.repeats):
        start = time.perf_counter()
        case.run(argument)
        seconds.append(time.perf_counter() - start)
    sender.send((seconds, ready_mb, _peak_mb()))
    sender.close()


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_BYTES / 1024**2


def markdown_table(cases: Sequence[Case]) -> str:
    """Measure every case in order; a Markdown table with the ratio to each case's baseline of this run.

    Raises ValueError: a baseline that is not measured before the case that names it.
    """
    lines = [
        "| what | seconds | target | times faster than the baseline | peak MB | target | of the baseline's "
        "| of it data and imports |",
        "|---|---|---|---|---|---|---|---|",
    ]
    measured: dict[str, Measurement] = {}
    for case in cases:
        if case.baseline is not None and case.baseline not in measured:
            raise ValueError(f"the baseline {case.baseline!r} must be measured before {case.name!r}")
        result = measured[case.name] = measure(case)
        times = 0.0 if case.baseline is None else measured[case.baseline].seconds / result.seconds
        ratio = "" if case.baseline is None else f"{times:,.0f}" if times >= 10 else f"{times:.2f}"
        seconds = f"{result.seconds:.3f}" + (f" (a slice × {case.scale:,.0f})" if case.scale != 1 else "")
        target = "" if case.target is None else f"≤ {case.target:g}"
        share = "" if case.baseline is None else f"{result.peak_mb / measured[case.baseline].peak_mb:.0%}"
        most = "" if case.most_mb is None else f"≤ {case.most_mb:,.0f}"
        cells = (case.name, seconds, target, ratio, f"{result.peak_mb:.0f}", most, share, f"{result.ready_mb:.0f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
