"""Attacks on files, exports, archives and servers."""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import socket
import tarfile
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.attacking import LP, ending, exported, flipped, imported, layout, scores, spoiled
from warehouse import load
from warehouse.download.archive import extract
from warehouse.download.fetching import fetch
from warehouse.download.pace import Patience
from warehouse.export.manifest import MANIFEST


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
