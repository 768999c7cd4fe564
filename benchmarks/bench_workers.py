"""Two workers as two machines: a scheduler and workers in network namespaces of their own, and what the user sees.

`python -m benchmarks.bench_workers FOLDER [CASE ...]` asks questions about a folder of exported Parquet, with threads
and with two workers, compares the bytes, and prints seconds and memory of each process in a Markdown table. Needs
Linux, root (for `ip netns`) and the dask extra; each machine has its own folder for temporary files. Cases: answers,
killed, version, scheduler, late, import, disk.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

QUESTIONS = (
    ("rank", "all", "all", "-m", "pa", "-m", "acc_eq(by=item)"),
    ("compare", "all", "all", "-m", "pa", "--resamples", "100"),
    ("trend", "all", "all", "-m", "pa", "--resamples", "100"),
    ("counts", "all", "all"),
)
ADDRESS = "tcp://10.87.0.1:8786"
SLOW = QUESTIONS[1]


@dataclass
class Machine:
    """A network namespace with a virtual cable to the bridge. address: 10.87.0.N. temporary: its own folder."""

    name: str
    number: int
    temporary: Path = field(default_factory=lambda: Path(mkdtemp(prefix="machine-")))
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a program there."""
        own = {"TMPDIR": str(self.temporary), "PATH": os.environ["PATH"], "HOME": str(self.temporary), **environment}
        place = ("ip", "netns", "exec", self.name)
        log = (self.temporary / f"log-{len(self.processes)}").open("wb")
        started = subprocess.Popen([*place, *words], env=own, cwd=self.temporary, stdout=log, stderr=log)
        self.processes.append(started)
        return started

    def scheduler(self) -> subprocess.Popen[bytes]:
        return self.start(
            sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "10.87.0.1", "--no-dashboard"
        )

    def worker(self, **environment: str) -> subprocess.Popen[bytes]:
        words = ("--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", f"10.87.0.{self.number}")
        path = str(Path(__file__).parents[1])
        return self.start(
            sys.executable, "-m", "distributed.cli.dask_worker", ADDRESS, *words, **{"PYTHONPATH": path, **environment}
        )

    @property
    def peaks(self) -> list[float]:
        """The largest memory of each process so far, in GB."""
        found = []
        for process in self.processes:
            with contextlib.suppress(OSError, StopIteration):
                lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
                found.append(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e6)
        return found


def _ip(*words: str) -> None:
    subprocess.run(("ip", *words), check=True, capture_output=True)


@contextlib.contextmanager
def network() -> Iterator[list[Machine]]:
    """Four machines on a bridge: of the scheduler, of two workers, and of the user."""
    machines = [Machine(f"scorehouse-{name}", number) for number, name in enumerate(("hub", "a", "b", "user"), 1)]
    _ip("link", "add", "scorehouse0", "type", "bridge")
    try:
        _ip("link", "set", "scorehouse0", "up")
        for one in machines:
            _ip("netns", "add", one.name)
            _ip("link", "add", f"shv{one.number}", "type", "veth", "peer", "name", "eth0", "netns", one.name)
            _ip("link", "set", f"shv{one.number}", "master", "scorehouse0", "up")
            _ip("-n", one.name, "addr", "add", f"10.87.0.{one.number}/24", "dev", "eth0")
            _ip("-n", one.name, "link", "set", "eth0", "up")
            _ip("-n", one.name, "link", "set", "lo", "up")
        yield machines
    finally:
        for one in machines:
            for process in one.processes:
                with contextlib.suppress(OSError):
                    process.kill()
                    process.wait()
            subprocess.run(("ip", "netns", "del", one.name), capture_output=True)
            subprocess.run(("umount", "-q", str(one.temporary)), capture_output=True)
            shutil.rmtree(one.temporary, ignore_errors=True)
        subprocess.run(("ip", "link", "del", "scorehouse0"), capture_output=True)


@dataclass(frozen=True)
class Asked:
    """What a user saw: standard output, standard error, exit code; seconds of wall and of processor, peak GB."""

    out: bytes
    err: str
    code: int
    seconds: float
    cpu: float
    peak: float


CODE = "import sys; from cli.main import exit_code; sys.exit(exit_code(sys.argv[1:]))"


def ask(
    machine: Machine,
    folder: Path,
    words: Sequence[str],
    on_workers: bool,
    meanwhile: Callable[[], object] | None = None,
) -> Asked:
    """Ask a question from a machine; something may happen meanwhile."""
    more = ("--workers", ADDRESS) if on_workers else ()
    path = str(Path(__file__).parents[1])
    out, err = (machine.temporary / name for name in ("out", "err"))
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "TMPDIR": str(machine.temporary)}
    inside = ("ip", "netns", "exec", machine.name, sys.executable)
    started = time.perf_counter()
    with out.open("wb") as to, err.open("wb") as errors:
        process = subprocess.Popen(
            [*inside, "-c", CODE, *words, "--from", str(folder), *more, "--format", "csv"],
            env={**environment, "HOME": str(machine.temporary)},
            stdout=to,
            stderr=errors,
            cwd=machine.temporary,
        )
        if meanwhile is not None:
            meanwhile()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9
    return Asked(out.read_bytes(), err.read_text(), process.returncode, seconds, cpu, peak)


def answers(folder: Path, machines: Sequence[Machine]) -> None:
    """Time and memory of each question, with threads and with two workers."""
    hub, a, b, user = machines
    hub.scheduler()
    for one in (a, b):
        one.worker()
    print("| question | threads: s | CPU s | GB | workers: s | GB of user, scheduler, workers | bytes |")
    print("| --- | ---: | ---: | ---: | ---: | --- | --- |", flush=True)
    for words in QUESTIONS:
        here = ask(user, folder, words, on_workers=False)
        there = ask(user, folder, words, on_workers=True)
        peaks = ", ".join(f"{one:.2f}" for one in (there.peak, *hub.peaks, *a.peaks, *b.peaks))
        same = "same" if (here.out, here.err, here.code) == (there.out, there.err, there.code) else "DIFFERENT"
        cells = (f"{here.seconds:.1f}", f"{here.cpu:.1f}", f"{here.peak:.2f}", f"{there.seconds:.1f}", peaks, same)
        print("|", " | ".join((" ".join(words), *cells)), "|", flush=True)
        if same != "same":
            print(there.code, there.err[-1000:], file=sys.stderr)


def _said(what: str, seen: Asked, same: Asked | None = None) -> None:
    lines = seen.err.strip().splitlines()
    errors = [line for line in lines if line.startswith("error")]
    note = "same bytes" if same is not None and seen.out == same.out else "; ".join(errors) or f"{len(lines)} lines"
    traceback = ", TRACEBACK" if "Traceback" in seen.err else ""
    print(f"| {what} | exit {seen.code}, {seen.seconds:.0f} s: {note}{traceback} |", flush=True)
    if not errors and seen.code:
        print(seen.err[-1500:], file=sys.stderr)


def killed(folder: Path, machines: Sequence[Machine]) -> None:
    """One of two workers is killed half way; then the other, too."""
    hub, a, b, user = machines
    hub.scheduler()
    for one in (a, b):
        one.worker()
    here = ask(user, folder, SLOW, on_workers=True)
    half = here.seconds / 2
    _said(
        "one of two workers is killed",
        ask(user, folder, SLOW, True, lambda: (time.sleep(half), a.processes[-1].kill())),
        here,
    )
    _said(
        "the last worker is killed", ask(user, folder, SLOW, True, lambda: (time.sleep(half), b.processes[-1].kill()))
    )


def scheduler(folder: Path, machines: Sequence[Machine]) -> None:
    """The scheduler is killed half way."""
    hub, a, b, user = machines
    hub.scheduler()
    for one in (a, b):
        one.worker()
    ask(user, folder, ("counts", "all", "all"), on_workers=True)
    _said("the scheduler is killed", ask(user, folder, SLOW, True, lambda: (time.sleep(8), hub.processes[-1].kill())))
    _said("no scheduler", ask(user, folder, SLOW, True))


def late(folder: Path, machines: Sequence[Machine]) -> None:
    """No worker comes."""
    hub, *_, user = machines
    hub.scheduler()
    _said("no worker", ask(user, folder, SLOW, True))


def version(folder: Path, machines: Sequence[Machine]) -> None:
    """A worker has other files of the program."""
    hub, a, b, user = machines
    hub.scheduler()
    a.worker()
    other = b.temporary / "other"
    root = Path(__file__).parents[1]
    for name in ("metaeval", "queries", "warehouse", "migrations", "scorehouse", "cli"):
        shutil.copytree(root / name, other / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "metaeval" / "results" / "run.py").open("a") as file:
        file.write("\n# another version\n")
    b.worker(PYTHONPATH=str(other))
    time.sleep(5)
    _said("a worker has other files", ask(user, folder, SLOW, True))


def imports(folder: Path, machines: Sequence[Machine]) -> None:
    """A worker cannot import the program."""
    hub, a, b, user = machines
    hub.scheduler()
    a.worker()
    broken = b.temporary / "broken" / "metaeval"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('no such program here')\n")
    b.worker(PYTHONPATH=str(broken.parent))
    time.sleep(5)
    _said("a worker cannot import the program", ask(user, folder, SLOW, True))


def disk(folder: Path, machines: Sequence[Machine]) -> None:
    """A worker's disk is full: folders for temporary files of 1 MB and 64 files, filled; the first needs one more."""
    hub, a, b, user = machines
    hub.scheduler()
    for one in (a, b):
        subprocess.run(("mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=64", "tmpfs", str(one.temporary)), check=True)
        one.worker()
    time.sleep(6)
    for one in (a, b):
        with contextlib.suppress(OSError), (one.temporary / "filled").open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        with contextlib.suppress(OSError):
            for number in count():
                (one.temporary / f"filled-{number}").touch()
    here = ask(user, folder, SLOW, on_workers=False)
    _said("disks of the workers are full", ask(user, folder, SLOW, True), here)


CASES = {
    "answers": answers,
    "killed": killed,
    "version": version,
    "scheduler": scheduler,
    "late": late,
    "import": imports,
    "disk": disk,
}


def main() -> None:
    folder, *cases = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # namespaces are removed then, too
    for case in cases or CASES:
        with network() as machines:
            CASES[case](Path(folder).resolve(), machines)


if __name__ == "__main__":
    main()
