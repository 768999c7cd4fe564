"""Attacks on databases, and on what readers are given: damaged, lying, or with names that mean more elsewhere."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb

from benchmarks.attack_processes import loaded, ran
from benchmarks.attacking import LP, ending, flipped, scores
from tests.warehouse.readers.samples import NAMED, PACKED, SPOILED, workbook
from warehouse import Warehouse, load
from warehouse.loading.files import find
from warehouse.readers.campaign_workbooks import CampaignWorkbookReader
from warehouse.readers.claims import Claim, Given

_BLOCK = 1 << 15
_LIES = (
    "CREATE OR REPLACE VIEW testsets AS SELECT content AS testset FROM read_text('{secret}')",
    "CREATE OR REPLACE VIEW testsets AS SELECT range AS testset FROM range(100000000000)",
    "CREATE OR REPLACE VIEW scores AS SELECT * FROM read_csv('{secret}')",
    "CREATE VIEW more AS SELECT * FROM glob('/*')",
    "CREATE TABLE more (a INTEGER)",
    "CREATE MACRO avg(x) AS (SELECT content FROM read_text('{secret}'))",
    "CREATE MACRO count(x) AS 1",
    "CREATE OR REPLACE MACRO concordance(a, b, c, d) AS TABLE SELECT * FROM read_text('{secret}')",
    "DROP VIEW humans",
    "ALTER TABLE internal.score RENAME TO scored",
    "CREATE SCHEMA elsewhere",
    "CREATE SEQUENCE numbers",
    "CREATE TYPE mood AS ENUM ('a')",
    "DELETE FROM internal.schema_migration WHERE number > 3",
    "UPDATE internal.schema_migration SET sha256 = ''",
)


def bits_of_databases(folder: Path, n_tries: int) -> Iterator[bool]:
    """Single flipped bits: the same scores, or refused."""
    original, rng = loaded(folder), random.Random(8)
    expected, data = scores(original), original.read_bytes()
    for number in range(n_tries):
        path = folder / f"w{number}.duckdb"
        path.write_bytes(flipped(data, rng))
        found = ending(lambda: scores(path))  # noqa: B023 (called here)
        yield found.is_refusal or found.value == expected
        path.unlink()


def swapped_blocks(folder: Path, n_tries: int) -> Iterator[bool]:
    """Two blocks of 32 KB change places: refused, found by `audit --deep`, or every row as before."""
    original, rng = loaded(folder, has_texts=True), random.Random(11)
    expected, data = _everything(original), original.read_bytes()
    starts = range(3 * 4096, len(data) - _BLOCK + 1, _BLOCK)  # behind the headers of the file
    for number in range(n_tries):
        path, changed = folder / f"w{number}.duckdb", bytearray(data)
        one, other = rng.sample(starts, 2)
        changed[one : one + _BLOCK], changed[other : other + _BLOCK] = (
            data[other : other + _BLOCK],
            data[one : one + _BLOCK],
        )
        path.write_bytes(changed)
        found = ending(lambda: _everything(path))  # noqa: B023 (called here)
        code, written = ran("audit", "--deep", "--check", "checksum", "--db", path, "--format", "json", "-q")
        is_found = code == 4 or (code == 0 and '"checksum"' in written)
        yield not found.is_traceback and (is_found or (code == 0 and found.value == expected))
        path.unlink()


def _everything(database: Path) -> list[list[tuple[object, ...]]]:
    tables = ("scores", "human_scores", "aggregate_scores", "judgements", "segments", "texts")
    with Warehouse.open(database) as warehouse:
        return [warehouse.rows(f"FROM {table} ORDER BY ALL") for table in tables]


def lying_databases(folder: Path) -> Iterator[bool]:
    """Files whose views, macros or tables are not ours: refused by `list` and `sql` alike, nothing is shown."""
    original = loaded(folder)
    (folder / "secret.csv").write_text("a\n42424242\n")
    for number, lie in enumerate(_LIES):
        path = folder / f"w{number}.duckdb"
        shutil.copy(original, path)
        with duckdb.connect(str(path)) as connection:
            connection.execute(lie.format(secret=folder / "secret.csv"))
        for words in (("list", "testsets"), ("rank", "task24", LP, "-m", "pa")):
            code, written = ran(*words, "--db", path)
            yield code == 4 and written == ""


def bits_of_workbooks(folder: Path, n_tries: int) -> Iterator[bool]:
    """Refused, or the same rows: the archive's checksums vouch for what is in it."""
    path, reader, rng = workbook(folder), CampaignWorkbookReader(), random.Random(9)
    whole = path.read_bytes()
    claim = reader.claim(path, (), Given())
    assert isinstance(claim, Claim)
    expected = reader.parse(whole, claim, Given()).normal(path)
    assert not expected.faults
    for _ in range(n_tries):
        found = ending(lambda: reader.parse(flipped(whole, rng), claim, Given()).normal(path))
        records = found.value
        yield records is not None and (
            bool(records.faults)
            or (records.scores.equals(expected.scores) and records.judgements.equals(expected.judgements))
        )


def damaged_from_the_start(folder: Path) -> Iterator[bool]:
    """Files damaged from their first line on, whose names or places say what they are: never passed over."""
    for name, data in NAMED.items():
        for spoil in (*SPOILED.values(), *(PACKED.values() if name.endswith(".gz") else ())):
            path = folder / "in" / name
            path.parent.mkdir(parents=True)
            path.write_bytes(spoil(data))
            found = ending(lambda: find([folder / "in"])).value
            is_own = name == "mine.csv"  # a table of one's own may have any first line
            yield found is not None and (is_own or (not found.skipped and bool(found.faults or found.claims)))
            shutil.rmtree(folder / "in")


def odd_names(folder: Path) -> Iterator[bool]:
    """Halves of characters, escapes, formulas, scripts as names: faults, or escaped where they are shown."""
    names = (
        *(
            "\ud800",
            "a\udfffb",
            "\\write18{id}",
            "</script><script>alert(1)</script>",
            "\x1b[2J",
            "=1+1",
            "'; DROP",
            "\0",
        ),
        *("..", "../../x", "a/b", "\u202e", "\u2028", "x" * 5000, "NULL", "None", "%00", "{0}", "$(id)", "`id`"),
    )
    for number, name in enumerate(names):
        rows = [{"testset": "lab", "lp": LP, "metric": name, "system": s, "score": n} for n, s in enumerate("ABC")]
        path, database = folder / f"{number}.jsonl", folder / f"{number}.duckdb"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        found = ending(lambda: load([path], database))  # noqa: B023 (called here)
        code, written = ran("list", "metrics", "--db", database, "-q")
        signs = [sign for sign in written if sign != "\n" and not sign.isprintable()]
        yield not found.is_traceback and code in (0, 4) and not signs


def bits_of_packed_scores(folder: Path, n_tries: int) -> Iterator[bool]:
    """Single flipped bits of gzip files: refused, or the same scores; the checksum of gzip vouches for them."""
    rng, path = random.Random(10), folder / "wmt20" / "M.sys.score.gz"
    rows = "".join(f"M\ten-de\tnewstest2020\tnewstest2020\t{system}\t0.{n}\n" for n, system in enumerate("ABCD"))
    path.parent.mkdir()
    whole = gzip.compress(rows.encode())
    path.write_bytes(whole)
    load([path], folder / "original.duckdb")
    expected = _of_systems(folder / "original.duckdb")
    for number in range(n_tries):
        database = folder / f"w{number}.duckdb"
        path.write_bytes(flipped(whole, rng))
        found = ending(lambda: load([path], database))  # noqa: B023 (called here)
        report = found.value
        is_refused = found.is_refusal or (report is not None and not report.is_clean)
        yield is_refused or (report is not None and _of_systems(database) == expected)
        database.unlink(missing_ok=True)


def _of_systems(database: Path) -> list[tuple[object, ...]]:
    with Warehouse.open(database) as warehouse:
        return warehouse.rows("SELECT scorer, system, value FROM aggregate_scores ORDER BY ALL")
