"""Attacks on files, archives, servers and processes: how many tries, and how many of them did no harm.

`python -m benchmarks.attack` runs all of them in a temporary folder, on the loopback address alone, within limits of
time, and writes the table of docs/reliability.md. A try survives where the program refuses in one line or answers
exactly as without the attack; a traceback, a changed value or something half written does not. Only what was run
stands in the table. `--times N` multiplies the tries of the fuzzed files.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from warehouse import SourceError, Warehouse, load
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
    """name: what is tried; expected: what counts as survived; run: yields one claim a try, whether it survived."""

    name: str
    expected: str
    run: Callable[[Path, int], Iterator[bool]]


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


def is_refused(action: Callable[[], object]) -> bool:
    """Whether an action ends in one short line for the user."""
    try:
        action()
    except WarehouseError as error:
        return "\n" not in str(error) and len(str(error)) < _LONGEST
    except Exception:
        return False
    return False


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def exported(folder: Path) -> Path:
    load([layout(folder / "layout")], folder / "w.duckdb")
    export(folder / "w.duckdb", folder / "out")
    return folder / "out"


def bits_of_parquet(folder: Path, times: int) -> Iterator[bool]:
    out, rng = exported(folder), random.Random(1)
    files = sorted(out.rglob("*.parquet"))
    for _ in range(500 * times):
        path = rng.choice(files)
        whole = path.read_bytes()
        path.write_bytes(flipped(whole, rng))
        yield is_refused(lambda: import_parquet(out, folder / "back.duckdb"))
        path.write_bytes(whole)


def bits_of_manifest(folder: Path, times: int) -> Iterator[bool]:
    """A flip in the blanks between words changes nothing: then the same scores must come."""
    out, rng = exported(folder), random.Random(2)
    manifest, expected = out / MANIFEST, scores(folder / "w.duckdb")
    whole = manifest.read_bytes()
    for number in range(500 * times):
        back = folder / f"back{number}.duckdb"
        manifest.write_bytes(flipped(whole, rng))
        try:
            import_parquet(out, back)
            yield scores(back) == expected
            back.unlink()
        except SourceError as error:
            yield "\n" not in str(error) and not back.exists()
        except Exception:
            yield False


def edits_of_manifest(folder: Path, times: int) -> Iterator[bool]:
    out, rng = exported(folder), random.Random(3)
    manifest = out / MANIFEST
    text = manifest.read_text()
    odd: tuple[object, ...] = (None, True, -1, 0, 10**40, 1.5, "", "../..", "\0", "x" * 5000, "\ud800", [], {}, "en-de")
    for _ in range(500 * times):
        data = json.loads(text)
        node: Any = rng.choice((data, data["evalsets"][0], rng.choice(list(data["evalsets"][0]["files"].values()))))
        key = rng.choice(list(node))
        if rng.random() < 0.3:
            del node[key]
        else:
            node[key] = rng.choice([value for value in odd if value != node[key]])
        manifest.write_text(json.dumps(data))
        yield is_refused(lambda: import_parquet(out, folder / "back.duckdb"))


def bits_of_scores(folder: Path, times: int) -> Iterator[bool]:
    """A flip that leaves a number or a name may not be noticed: nobody vouches for a text. It must be no traceback."""
    task, rng = layout(folder / "layout"), random.Random(4)
    files = [path for path in sorted(task.rglob("*")) if path.suffix in (".score", ".docs")]
    for number in range(60 * times):
        path = rng.choice(files)
        whole = path.read_bytes()
        path.write_bytes(flipped(whole, rng))
        try:
            load([task], folder / f"w{number}.duckdb")
            yield True
        except WarehouseError:
            yield True
        except Exception:
            yield False
        path.write_bytes(whole)


def cut_tables(folder: Path, times: int) -> Iterator[bool]:
    table = "testset,lp,metric,system,score\nlab,en-de,M-src,A,0.5\nlab,en-de,M-src,B,32.214401587757784\n"
    path = folder / "mine.csv"
    for end in range(1, len(table)):
        path.write_text(table[:end])
        try:
            report = load([path], folder / f"w{end}.duckdb")
        except WarehouseError:
            yield True
            continue
        except Exception:
            yield False
            continue
        yield not report.is_clean or scores(folder / f"w{end}.duckdb") == []
    del times


def bombs(folder: Path, times: int) -> Iterator[bool]:
    for number, piece in enumerate((bytes(1 << 20), b"M\ten-de\tnewstest2012\tAsh\t0.5\n" * 40_000)):
        packer = zlib.compressobj(9, wbits=31)
        path = folder / f"M{number}.sys.score.gz"
        head = b"M\ten-de\tnewstest2012\tAsh\t0.5\n"
        packed = packer.compress(head) + b"".join(packer.compress(piece) for _ in range(400)) + packer.flush()
        path.write_bytes(packed)
        report = load([path], folder / f"w{number}.duckdb")
        yield any("unpacks to" in fault.found for fault in report.faults)
    del times


def tar_headers(folder: Path, times: int) -> Iterator[bool]:
    """Fields of a header changed, its checksum right; every other time an extended header before it."""
    rng, path = random.Random(5), folder / "scores.tgz"
    keys = ("size", "path", "mtime", "uid", "GNU.sparse.map", "GNU.sparse.size", "GNU.sparse.major", "hdrcharset")
    values = ("9" * 4000, "-5", "1,2,3", "x", "", "a/" * 1900, "1e999", "nan", "0" * 60_000)
    for number in range(1000 * times):
        before = b""
        if number % 2:
            before = extended(rng.choice(keys), rng.choice(values)) * rng.choice((1, 1, 1, 50, 2000))
        path.write_bytes(gzip.compress(before + member(rng) + b"abc" + bytes(509) + bytes(1024), 1))
        try:
            extract(path, folder / "out")
            yield {item.name for item in folder.iterdir()} <= {"scores.tgz", "out"}
        except WarehouseError as error:
            yield "\n" not in str(error) and len(str(error)) < _LONGEST
        except Exception:
            yield False


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


def bits_of_archives(folder: Path, times: int) -> Iterator[bool]:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        tar.add(layout(folder / "layout"), "root/task24")
    rng, path = random.Random(6), folder / "scores.tgz"
    for number in range(200 * times):
        target = folder / f"out{number}"
        path.write_bytes(flipped(stream.getvalue(), rng))
        try:
            extract(path, target)
        except WarehouseError as error:
            yield "\n" not in str(error) and not any(target.iterdir())
        except Exception:
            yield False
        else:  # a flip in the gzip header's date or name
            whole = {item.name: item.read_bytes() for item in (folder / "layout").rglob("*") if item.is_file()}
            yield {item.name: item.read_bytes() for item in target.rglob("*") if item.is_file()} == whole
        shutil.rmtree(target, ignore_errors=True)


def slow_servers(folder: Path, times: int) -> Iterator[bool]:
    header = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    for number, says in enumerate((b"", b"H", header)):
        stop = threading.Event()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=answer_slowly, args=(listening, says, stop))
            thread.start()
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/x.tgz"
            target, patience = folder / f"{number}.tgz", Patience(1.0, 1000)
            started = time.perf_counter()
            held = is_refused(lambda: fetch([url], target, patience=patience, pause=0.0))  # noqa: B023 (called here)
            yield held and time.perf_counter() - started < 10
            stop.set()
            thread.join()
    del times


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


def killed_loads(folder: Path, times: int) -> Iterator[bool]:
    task, database = layout(folder / "layout", 2000, 20), folder / "w.duckdb"
    load([task], folder / "whole.duckdb")
    expected = scores(folder / "whole.duckdb")
    for number, _ in enumerate(killed(20, _KILLED["load"], task, database)):
        if number:
            load([task], database)
            yield scores(database) == expected
        for path in folder.glob("w.duckdb*"):
            path.unlink()
    del times


def killed_exports(folder: Path, times: int) -> Iterator[bool]:
    """What a killed export left is refused, or it had come to its end and brings everything."""
    load([layout(folder / "layout", 1000, 20)], folder / "w.duckdb")
    expected = scores(folder / "w.duckdb")
    for form in ("parquet", "mtme"):
        out = folder / form
        for number, is_done in enumerate(killed(10, _KILLED["export"], folder / "w.duckdb", out, form)):
            back = folder / f"back-{form}-{number}.duckdb"
            try:
                report = load([out], back) if out.exists() and any(out.iterdir()) else None
            except SourceError:  # hidden files alone
                report = None
            if number:
                is_whole = report is not None and report.is_clean and scores(back) == expected
                is_refusal = report is None or (not report.is_clean and not report.evalsets)
                yield is_whole if is_done else (is_whole or is_refusal)
            shutil.rmtree(out, ignore_errors=True)
    del times


ATTACKS = (
    Attack("single flipped bits of exported Parquet", "refused", bits_of_parquet),
    Attack("single flipped bits of an export's manifest", "refused, or the same scores", bits_of_manifest),
    Attack("values and names of an export's manifest changed or removed", "refused", edits_of_manifest),
    Attack("single flipped bits of score files (nobody vouches for a text)", "no traceback", bits_of_scores),
    Attack("a table cut at every byte", "refused, or no score", cut_tables),
    Attack("gzip files that expand 400 times and more", "refused while they are read", bombs),
    Attack("hostile headers of archives", "refused in a short line, or unpacked inside", tar_headers),
    Attack("single flipped bits of archives", "refused, or the same files", bits_of_archives),
    Attack("servers that say nothing, or a byte now and then", "given up in time", slow_servers),
    Attack("kill -9 of a load", "the next load gives the whole", killed_loads),
    Attack("kill -9 of an export", "refused by `load`, or whole", killed_exports),
)


def run(attack: Attack, times: int) -> Outcome:
    n_tries = n_survived = 0
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        started = time.perf_counter()
        for survived in attack.run(Path(folder), times):
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
