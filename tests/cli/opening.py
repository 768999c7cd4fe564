"""Every way into a warehouse file, tried on files that a stranger forged.

`python -m tests.cli.opening FOLDER [NUMBER OF]` tries every `OF`-th pair of a file and a way, and prints what was
wrong, one line each, and counts. Under strace, the kernel says what was opened, made and connected to.
"""

import contextlib
import io
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb

import scorehouse
from cli.ending import run_program
from cli.main import program
from tests.helpers import tiny_bytes, tiny_layout
from tests.sharing import written
from tests.warehouse.database.forged import CASES, forge
from warehouse import WarehouseError, load, unload
from warehouse.database.connection import StoredResult, store_results
from warehouse.export import export, import_parquet

SECRET = "42424242"
_SET = ("tiny24", "en-de")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("list", "metrics", *_SET),
    ("rank", *_SET, "-m", "pa"),
    ("compare", *_SET, "-m", "pa", "--resamples", "5"),
    ("protocol", "--matrix", "tiny24"),
    ("systems", *_SET, "--resamples", "5"),
    ("autorank", *_SET),
    ("correlations", *_SET),
    ("trend", *_SET, "-m", "pa", "--resamples", "5"),
    ("show", *_SET, "1"),
    ("segments", *_SET, "-n", "2"),
    ("scatter", *_SET, "Fine"),
    ("counts", *_SET),
    ("thresholds", *_SET),
    ("means", *_SET),
    ("deltas", "--hard", *_SET),
    ("noise", *_SET, "-m", "pa", "--simulations", "2"),
    ("plan", *_SET, "Fine", "Rough", "-m", "pearson", "--simulations", "20", "--resamples", "20"),
    ("sample", *_SET, "--size", "2"),
    ("annotators", *_SET),
    ("audit", *_SET),
    ("paper", "kocmi-2021", "table-2", "--testset", "tiny24", "--lp", "en-de", "--resamples", "5"),
    ("diff", "{other}", "--testset", "tiny24"),
    ("compute", "bleu", *_SET),
    ("sql", "FROM testsets"),
    ("sql", "FROM evalsets, results", "-o", "{folder}/rows.csv"),
    ("report", "tiny24", "-o", "-", "--resamples", "5"),
    ("export", "{folder}/table.csv", *_SET, "--format", "csv"),
    ("export", "{folder}/parquet"),
    ("load", "{layout}"),
    ("remove", "tiny24"),
)
_RESULT = StoredResult("key", "compare", "", "", "", "", "0", 0.0)
METHODS: dict[str, Callable[[Path, Path], object]] = {
    "scorehouse.open(…).sql": lambda path, _: _asked(path, lambda one: one.sql("SELECT testset, n_lps FROM testsets")),
    "scorehouse.open(…).rank": lambda path, _: _asked(path, lambda one: one.rank(*_SET, measures=["pa"]).frame),
    "load": lambda path, folder: load([folder / "layout"], path).faults,
    "unload": lambda path, _: unload(path, "tiny24"),
    "store_results": lambda path, _: store_results(path, [_RESULT]),
    "export": lambda path, folder: export(path, folder / "again"),
    "import_parquet": lambda path, folder: import_parquet(folder / "exported", path),
}

DOORS = (*COMMANDS, *METHODS)


def _asked(path: Path, ask: Callable[[scorehouse.Warehouse], object]) -> object:
    with scorehouse.open(path) as warehouse:
        return ask(warehouse)


def doors(folder: Path) -> Iterator[tuple[str, Callable[[Path], str]]]:
    """Each way into a file by name: what it is told, raises WarehouseError or prints."""
    places = {"folder": folder, "layout": folder / "layout", "other": folder / "other.duckdb"}
    for words in COMMANDS:
        yield " ".join(words[:2]), lambda path, words=words: _run(path, [word.format(**places) for word in words])
    for name, method in METHODS.items():
        yield name, lambda path, method=method: repr(method(path, folder))


def _run(path: Path, words: list[str]) -> str:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run_program(_PROGRAM, ["--db", str(path), *words])
    out.seek(0)
    return f"{code}: {out.read()}"


_PROGRAM = program()


def tried(folder: Path, number: int, of: int) -> Iterator[tuple[str, str]]:
    """Every `of`-th pair of a forged file and a door, and what is wrong with what happens; "" where nothing is.

    It shows the secret, makes a file outside, ends in a traceback or leaves the secret in the file.
    """
    (folder / "secret.txt").write_text(SECRET)
    tiny_layout(folder / "layout")
    written(folder / "other.duckdb", tiny_bytes())
    export(folder / "other.duckdb", folder / "exported")
    places = {"secret": folder / "secret.txt", "out": folder / "stolen.csv", "url": "http://127.0.0.1:9/x"}
    for place, (what, age) in enumerate(CASES):
        chosen = [one for at, one in enumerate(doors(folder)) if (place * len(DOORS) + at) % of == number]
        if not chosen:
            continue
        try:
            forged = forge(folder / "forged.duckdb", what, age, **places).read_bytes()
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException) as error:
            yield f"{what}, {age}", f"cannot be forged: {str(error).splitlines()[0]}"
            continue
        for name, door in chosen:
            database = written(folder / "a.duckdb", forged)
            try:
                said, fault = door(database), ""
            except WarehouseError as error:
                said, fault = str(error), ""
            except BaseException:
                said, fault = "", traceback.format_exc()[-300:]
            if SECRET in said or SECRET.encode() in database.read_bytes() or (folder / "stolen.csv").exists():
                fault = f"it ran: {said[:200]}"
            elif "Traceback" in said or "\x1b" in said:
                fault = said[-300:]
            yield f"{what}, {age}, {name}", fault
            for left in ("table.csv", "rows.csv", "parquet", "again"):
                path = folder / left
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def main() -> None:
    folder, number, of = Path(sys.argv[1]), *map(int, [*sys.argv[2:4], "0", "1"][:2])
    counts: Counter[str] = Counter()
    for name, fault in tried(folder.resolve(), number, of):
        counts["wrong" if fault else "right"] += 1
        if fault:
            print(name, fault.replace("\n", " "), flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
