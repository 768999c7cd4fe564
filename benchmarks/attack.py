"""Attacks on files, archives, servers and processes: how many tries, and how many of them did no harm.

`python -m benchmarks.attack` runs all of them in a temporary folder, on the loopback address alone, within limits of
time, and writes the table of docs/reliability.md. A try survives where the program refuses in one line or answers
exactly as without the attack; a traceback, a changed value or something half written does not. Only what was run
stands in the table. `--times N` multiplies the tries that are drawn at random.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import platform
import random
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from warehouse import Warehouse, load
from warehouse.download.archive import extract
from warehouse.download.fetching import fetch
from warehouse.download.pace import Patience
from warehouse.errors import WarehouseError
from warehouse.export import MANIFEST, export, import_parquet
from warehouse.export.mtme import ScoreTable, write_evalset

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reliability.md"
LP = "en-de"
_LONGEST = 2000  # characters of a message


@dataclass(frozen=True)
class Attack:
    """name: what is tried; expected: what counts as survived; run: in a folder, yields whether each try survived.

    n_tries: of an attack that draws its tries at random; `run` takes that many.
    """

    name: str
    expected: str
    run: Callable[..., Iterator[bool]]
    n_tries: int | None = None


@dataclass(frozen=True)
class Outcome:
    attack: Attack
    n_tries: int
    n_survived: int
    worst_seconds: float


def layout(folder: Path, n_segments: int = 40, n_metrics: int = 3) -> Path:
    """A small evaluation set in the organisers' layout."""
    rng = np.random.default_rng(0)
    systems = ["A", "B", "C"]
    tables = {
        f"M{number}-src": ScoreTable(systems, seg=rng.normal(size=(3, n_segments)).round(3))
        for number in range(n_metrics)
    }
    human = ScoreTable(systems, seg=-rng.integers(0, 25, size=(3, n_segments)).astype(float))
    documents = [("news", f"d{number // 10}") for number in range(n_segments)]
    write_evalset(folder / "task24", LP, documents=documents, humans={"mqm": human}, metrics=tables)
    return folder / "task24"


def scores(database: Path) -> list[tuple[Any, ...]]:
    with Warehouse.open(database) as warehouse:
        return warehouse.rows("SELECT metric, system, segment, value FROM scores ORDER BY ALL")


@dataclass(frozen=True)
class Ending:
    """How one try ended: with a value, with a refusal for the user, or with neither, which is a traceback."""

    value: Any = None
    refusal: str | None = None
    is_traceback: bool = False

    @property
    def is_refusal(self) -> bool:
        """Whether it is one short line for the user."""
        return self.refusal is not None and "\n" not in self.refusal and len(self.refusal) < _LONGEST


def ending(action: Callable[[], Any]) -> Ending:
    """Try something; the one place where anything but the program's own errors counts as a traceback."""
    try:
        return Ending(action())
    except WarehouseError as error:
        return Ending(refusal=str(error))
    except Exception:
        return Ending(is_traceback=True)


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def exported(folder: Path) -> Path:
    load([layout(folder / "layout")], folder / "w.duckdb")
    export(folder / "w.duckdb", folder / "out")
    return folder / "out"


def spoiled(files: Sequence[Path], rng: random.Random, n_tries: int) -> Iterator[int]:
    """Again and again one bit of one of these files is flipped, and put right after the try."""
    for number in range(n_tries):
        path = rng.choice(files) if len(files) > 1 else files[0]
        whole = path.read_bytes()
        path.write_bytes(flipped(whole, rng))
        yield number
        path.write_bytes(whole)


def imported(out: Path, back: Path) -> list[tuple[Any, ...]]:
    import_parquet(out, back)
    return scores(back)


def bits_of_parquet(folder: Path, n_tries: int) -> Iterator[bool]:
    out = exported(folder)
    for _ in spoiled(sorted(out.rglob("*.parquet")), random.Random(1), n_tries):
        yield ending(lambda: imported(out, folder / "back.duckdb")).is_refusal


def bits_of_manifest(folder: Path, n_tries: int) -> Iterator[bool]:
    """A flip in the blanks between words changes nothing: then the same scores must come."""
    out = exported(folder)
    expected = scores(folder / "w.duckdb")
    for number in spoiled([out / MANIFEST], random.Random(2), n_tries):
        back = folder / f"back{number}.duckdb"
        found = ending(lambda: imported(out, back))  # noqa: B023 (called here)
        yield (found.is_refusal and not back.exists()) or found.value == expected
        back.unlink(missing_ok=True)


def edits_of_manifest(folder: Path, n_tries: int) -> Iterator[bool]:
    out, rng = exported(folder), random.Random(3)
    manifest = out / MANIFEST
    text = manifest.read_text()
    odd: tuple[object, ...] = (None, True, -1, 0, 10**40, 1.5, "", "../..", "\0", "x" * 5000, "\ud800", [], {}, "en-de")
    for _ in range(n_tries):
        data = json.loads(text)
        node: Any = rng.choice((data, data["evalsets"][0], rng.choice(list(data["evalsets"][0]["files"].values()))))
        key = rng.choice(list(node))
        if rng.random() < 0.3:
            del node[key]
        else:
            node[key] = rng.choice([value for value in odd if value != node[key]])
        manifest.write_text(json.dumps(data))
        yield ending(lambda: imported(out, folder / "back.duckdb")).is_refusal


def bits_of_scores(folder: Path, n_tries: int) -> Iterator[bool]:
    """A flip that leaves a number or a name may not be noticed: nobody vouches for a text. It must be no traceback."""
    task = layout(folder / "layout")
    files = [path for path in sorted(task.rglob("*")) if path.suffix in (".score", ".docs")]
    for number in spoiled(files, random.Random(4), n_tries):
        yield not ending(lambda: load([task], folder / f"w{number}.duckdb")).is_traceback  # noqa: B023 (called here)


def cut_tables(folder: Path) -> Iterator[bool]:
    table = "testset,lp,metric,system,score\nlab,en-de,M-src,A,0.5\nlab,en-de,M-src,B,32.214401587757784\n"
    path = folder / "mine.csv"
    for end in range(1, len(table)):
        path.write_text(table[:end])
        back = folder / f"w{end}.duckdb"
        found = ending(lambda: load([path], back).is_clean and scores(back) != [])  # noqa: B023 (called here)
        yield found.is_refusal or found.value is False


def bombs(folder: Path) -> Iterator[bool]:
    for number, piece in enumerate((bytes(1 << 20), b"M\ten-de\tnewstest2012\tAsh\t0.5\n" * 40_000)):
        packer = zlib.compressobj(9, wbits=31)
        path = folder / f"M{number}.sys.score.gz"
        head = b"M\ten-de\tnewstest2012\tAsh\t0.5\n"
        packed = packer.compress(head) + b"".join(packer.compress(piece) for _ in range(400)) + packer.flush()
        path.write_bytes(packed)
        report = load([path], folder / f"w{number}.duckdb")
        yield any("unpacks to" in fault.found for fault in report.faults)


def tar_headers(folder: Path, n_tries: int) -> Iterator[bool]:
    """Fields of a header changed, its checksum right; every other time an extended header before it."""
    rng, path = random.Random(5), folder / "scores.tgz"
    keys = ("size", "path", "mtime", "uid", "GNU.sparse.map", "GNU.sparse.size", "GNU.sparse.major", "hdrcharset")
    values = ("9" * 4000, "-5", "1,2,3", "x", "", "a/" * 1900, "1e999", "nan", "0" * 60_000)
    for number in range(n_tries):
        before = b""
        if number % 2:
            before = extended(rng.choice(keys), rng.choice(values)) * rng.choice((1, 1, 1, 50, 2000))
        path.write_bytes(gzip.compress(before + member(rng) + b"abc" + bytes(509) + bytes(1024), 1))
        found = ending(lambda: extract(path, folder / "out"))
        inside = {item.name for item in folder.iterdir()} <= {"scores.tgz", "out"}
        yield found.is_refusal or (not found.is_traceback and inside)


def member(rng: random.Random) -> bytes:
    info = tarfile.TarInfo(f"root/task24/documents/{LP}.docs")
    info.size = 3
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    numbers = (b"\xff" * 8, b"\x80" + b"\xff" * 11, b"9" * 12, b"-1", b"\0" * 12)
    for _ in range(rng.randrange(3)):
        at = rng.choice((0, 100, 108, 116, 124, 136, 156, 157, 257, 345, 386, 482))
        junk = rng.choice((*numbers, b"../../x", b"/etc", b"S", b"x", b"g", b"L", b"K", b"2", b"3"))
        header[at : at + len(junk)] = junk
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % (sum(header[:512]) & 0o777777)
    return bytes(header[:512])


def extended(key: str, value: str) -> bytes:
    record = f" {key}={value}\n".encode()
    n = len(record)
    while len(str(n)) + len(record) != n:
        n = len(str(n)) + len(record)
    body = str(n).encode() + record
    info = tarfile.TarInfo("pax")
    info.type, info.size = b"x", len(body)
    return info.tobuf() + body + bytes(-len(body) % 512)


def bits_of_archives(folder: Path, n_tries: int) -> Iterator[bool]:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        tar.add(layout(folder / "layout"), "root/task24")
    rng, path = random.Random(6), folder / "scores.tgz"
    for number in range(n_tries):
        target = folder / f"out{number}"
        path.write_bytes(flipped(stream.getvalue(), rng))
        if (found := ending(lambda: extract(path, target))).refusal is not None:  # noqa: B023 (called here)
            yield found.is_refusal and not any(target.iterdir())
        else:  # a flip in the gzip header's date or name
            whole = {item.name: item.read_bytes() for item in (folder / "layout").rglob("*") if item.is_file()}
            found_files = {item.name: item.read_bytes() for item in target.rglob("*") if item.is_file()}
            yield not found.is_traceback and found_files == whole
        shutil.rmtree(target, ignore_errors=True)


def slow_servers(folder: Path) -> Iterator[bool]:
    header = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    for number, says in enumerate((b"", b"H", header)):
        stop = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=answer_slowly, args=(listening, says, stop))
            thread.start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/x.tgz"
            target, patience = folder / f"{number}.tgz", Patience(1.0, 1000)
            started = time.perf_counter()
            held = ending(lambda: fetch([url], target, patience=patience, pause=0.0)).is_refusal  # noqa: B023
            yield held and time.perf_counter() - started < 10
            stop.set()
            thread.join()


def answer_slowly(listening: socket.socket, says: bytes, stop: threading.Event) -> None:
    connection, _ = listening.accept()
    with connection:
        try:
            connection.recv(1 << 16)
            connection.sendall(says if len(says) > 1 else b"")
            while not stop.wait(0.05):
                connection.sendall(says[:1])
        except OSError:
            return


_KILLED = {
    "load": "import sys; from pathlib import Path; from warehouse import load; "
    "load([Path(sys.argv[1])], Path(sys.argv[2]))",
    "export": "import sys; from pathlib import Path; from warehouse.export import export; "
    "export(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])",
}


def killed(moments: int, program: str, *words: object) -> Iterator[bool]:
    """Start a process again and again and kill it at moments spread over its life; whether it came to its end."""
    command = [sys.executable, "-c", program, *map(str, words)]
    seconds = []
    for number in range(moments + 1):
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if number:
            wait = seconds[0] * (0.3 + 0.7 * number / moments)
            try:
                process.wait(wait)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            yield process.wait() == 0
        else:
            process.wait()
            seconds.append(time.perf_counter() - started)
            yield True


def killed_loads(folder: Path) -> Iterator[bool]:
    task, database = layout(folder / "layout", 2000, 20), folder / "w.duckdb"
    load([task], folder / "whole.duckdb")
    expected = scores(folder / "whole.duckdb")
    for number, _ in enumerate(killed(20, _KILLED["load"], task, database)):
        if number:
            load([task], database)
            yield scores(database) == expected
        for path in folder.glob("w.duckdb*"):
            path.unlink()


def killed_exports(folder: Path) -> Iterator[bool]:
    """What a killed export left is refused, or it had come to its end and brings everything."""
    load([layout(folder / "layout", 1000, 20)], folder / "w.duckdb")
    expected = scores(folder / "w.duckdb")
    for form in ("parquet", "mtme"):
        out = folder / form
        for number, is_done in enumerate(killed(10, _KILLED["export"], folder / "w.duckdb", out, form)):
            back = folder / f"back-{form}-{number}.duckdb"
            found = ending(lambda: load([out], back)) if out.exists() and any(out.iterdir()) else Ending()  # noqa: B023
            report = found.value
            if number:
                is_whole = report is not None and report.is_clean and scores(back) == expected
                is_nothing = report is None or (not report.is_clean and not report.evalsets)
                yield not found.is_traceback and (is_whole or (is_nothing and not is_done))
            shutil.rmtree(out, ignore_errors=True)


ATTACKS = (
    Attack("single flipped bits of exported Parquet", "refused", bits_of_parquet, 500),
    Attack("single flipped bits of an export's manifest", "refused, or the same scores", bits_of_manifest, 500),
    Attack("values and names of an export's manifest changed or removed", "refused", edits_of_manifest, 500),
    Attack("single flipped bits of score files (nobody vouches for a text)", "no traceback", bits_of_scores, 60),
    Attack("a table cut at every byte", "refused, or no score", cut_tables),
    Attack("gzip files that expand 400 times and more", "refused while they are read", bombs),
    Attack("hostile headers of archives", "refused in a short line, or unpacked inside", tar_headers, 1000),
    Attack("single flipped bits of archives", "refused, or the same files", bits_of_archives, 200),
    Attack("servers that say nothing, or a byte now and then", "given up in time", slow_servers),
    Attack("kill -9 of a load", "the next load gives the whole", killed_loads),
    Attack("kill -9 of an export", "refused by `load`, or whole", killed_exports),
)


def run(attack: Attack, times: int) -> Outcome:
    n_tries = n_survived = 0
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        started = time.perf_counter()
        counted = () if attack.n_tries is None else (attack.n_tries * times,)
        for survived in attack.run(Path(folder), *counted):
            n_tries, n_survived = n_tries + 1, n_survived + survived
            worst = max(worst, time.perf_counter() - started)
            started = time.perf_counter()
    return Outcome(attack, n_tries, n_survived, worst)


def page(outcomes: list[Outcome]) -> str:
    rows = [
        f"| {outcome.attack.name} | {outcome.attack.expected} | {outcome.n_tries:,} | {outcome.n_survived:,} |"
        f" {outcome.worst_seconds:.1f} |"
        for outcome in outcomes
    ]
    here = f"Python {platform.python_version()}, DuckDB {version('duckdb')}, Polars {version('polars')}"
    return "\n".join(
        [
            "# Reliability",
            "",
            "What was tried to break files, archives, servers and processes, and how often nothing broke. Written by",
            "`python -m benchmarks.attack`; only what that program ran stands here, with the seeds that are in it.",
            f"Last run with {here}. Seconds are the longest time between two tries, preparations included.",
            "",
            "| attack | survives where it is | tries | survived | longest, s |",
            "| --- | --- | ---: | ---: | ---: |",
            *rows,
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", help="attacks with this word in their name; the page is not written")
    chosen = parser.parse_args()
    outcomes = []
    for attack in ATTACKS:
        if chosen.only is None or chosen.only in attack.name:
            outcomes.append(run(attack, chosen.times))
            print(f"{attack.name}: {outcomes[-1].n_survived} of {outcomes[-1].n_tries}", flush=True)
    if chosen.only is None:
        PAGE.write_text(page(outcomes), encoding="utf-8")
    return int(any(outcome.n_survived < outcome.n_tries for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
