"""What the program itself knows best: tables of measures, views and columns, and the output of examples.

`python -m docs.generate` writes the tables between the marks `<!-- begin NAME -->` and `<!-- end NAME -->` of the
documents, and below each `$ scorehouse ...` of a `console` block what that command prints on the simulated shared
task. With `--check` it changes nothing and fails where a document is out of date.
"""

import contextlib
import functools
import io
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from docs.level_tables import levels_of_defaults
from docs.tables import table

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", "docs/guide.md", "docs/levels.md", "docs/measures.md", "docs/schema.md")
COOKBOOK = "docs/cookbook.md"
CATALOGUE = "migrations/catalogue.json"
COMMANDS = "cli/commands.json"
_CONSOLE = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)
_SECTION = re.compile(r"(<!-- begin ([a-z-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


# ---------------------------------------------------------------- measures


def measure_list() -> str:
    """One row a measure."""
    from metaeval.measures import DEFINITIONS

    rows = []
    for measure, definition in DEFINITIONS.items():
        level = "system" if definition.level == "sys" else "segment"
        words = [f"`{measure}`", level, definition.meaning, definition.formula, definition.range, definition.source]
        rows.append(words)
    return table(["measure", "level", "says", "formula", "range", "source"], rows)


def measure_tests() -> str:
    """One row a measure: the tests that apply, and why."""
    from metaeval.measures import DEFINITIONS

    rows = []
    for name, definition in DEFINITIONS.items():
        measure = definition.measure
        rows.append([f"`{name}`", ", ".join(f"`{test}`" for test in measure.tests) or "none", measure.why_tests])
    return table(["measure", "tests", "because"], rows)


def measure_parameters() -> str:
    """One row a parameter."""
    from metaeval.measures import DEFINITIONS

    users: dict[tuple[str, str], dict[str, list[str]]] = {}
    for definition in DEFINITIONS.values():
        for parameter in definition.parameters:
            default = f"`{parameter.show(parameter.default)}`"
            names = users.setdefault((parameter.name, parameter.meaning), {}).setdefault(default, [])
            names += [definition.name] if definition.name not in names else []
    rows = [
        [
            f"`{name}`",
            meaning,
            ", ".join(default if len(of) == 1 else f"{default} ({', '.join(names)})" for default, names in of.items()),
            ", ".join(name for names in of.values() for name in names),
        ]
        for (name, meaning), of in users.items()
    ]
    return table(["parameter", "means", "default", "of"], rows)


# ---------------------------------------------------------------- schema


@functools.cache
def _dictionary() -> list[dict[str, Any]]:
    """The data dictionary of an empty warehouse."""
    import duckdb

    from queries.listing import dictionary
    from warehouse import Warehouse
    from warehouse.database.updating import apply_migrations

    connection = duckdb.connect()
    apply_migrations(connection, "an empty warehouse")
    with Warehouse(connection, Path("empty")) as warehouse:
        return list(dictionary(warehouse).rows(named=True))


def schema_part(kind: str) -> str:
    """A section for each view or table with its columns."""
    columns: dict[str, list[list[str]]] = {}
    meanings: dict[str, str] = {}
    for row in _dictionary():
        if row["kind"] == kind and row["column"] is None:
            meanings[row["name"]] = row["meaning"]
        elif row["kind"] == kind:
            columns.setdefault(row["name"], []).append([f"`{row['column']}`", row["type"], row["meaning"]])
    header = ["column", "type", "means"]
    parts = [f"### `{name}`\n\n{meanings[name]}\n\n{table(header, columns[name])}\n" for name in meanings]
    return "".join(parts).rstrip() + "\n"


def macro_list() -> str:
    """One row a macro."""
    rows = [[f"`{row['name']}`", row["meaning"]] for row in _dictionary() if row["kind"] == "macro"]
    return table(["macro", "gives"], rows)


# ---------------------------------------------------------------- cookbook

_COOKBOOK = """# Cookbook

Questions that researchers ask of several years of metrics tasks, each answered by one query over the public views
([schema.md](schema.md)). `scorehouse sql --example NAME` prints a query and runs it on your warehouse; `--example`
alone lists them. They name no test set, so they run on any; narrow them with `WHERE testset = ... AND lp = ...`. What
is shown is the answer on the warehouse of `scorehouse demo --keep`, whose systems, metrics and people are simulated. A
table without rows means that the simulated task has no such case, such as two annotators of one output.
"""


def cookbook() -> str:
    """The page of all examples, without their output."""
    from queries.cookbook import recipes

    parts = [_COOKBOOK]
    for one in recipes().values():
        remark = one.question.removeprefix(one.title).strip()
        parts.append(
            f"\n## {one.title}\n\n"
            + (f"{remark}\n\n" if remark else "")
            + f"```sql\n{one.query}```\n\n```console\n$ scorehouse sql --example {one.name}\n```\n"
        )
    return "".join(parts)


# ---------------------------------------------------------------- documents


def sections() -> dict[str, str]:
    """Every generated section by name."""
    return {
        "measures": measure_list(),
        "measure-parameters": measure_parameters(),
        "measure-tests": measure_tests(),
        "views": schema_part("view"),
        "macros": macro_list(),
        "tables": schema_part("table"),
        "levels": levels_of_defaults(),
    }


def renewed(text: str, generated: Mapping[str, str]) -> str:
    """The text of a document with its generated sections as they should be now.

    Raises KeyError: a mark names a section that there is not.
    >>> renewed("<!-- begin x -->\\nold\\n<!-- end x -->", {"x": "new\\n"})
    '<!-- begin x -->\\nnew\\n<!-- end x -->'
    """
    return _SECTION.sub(lambda match: match[1] + generated[match[2]] + match[3], text)


def answered(text: str, run: Callable[[list[str]], str]) -> str:
    """The text of a document with the output of its examples as it is now.

    run: what a command, given as words without `scorehouse`, prints to stdout.
    >>> answered("```console\\n$ scorehouse list x\\nold\\n```", lambda words: f"{words}\\n")
    "```console\\n$ scorehouse list x\\n['list', 'x']\\n```"
    """

    def block(match: re.Match[str]) -> str:
        commands = [line for line in match[2].splitlines() if line.startswith("$ scorehouse ")]
        parts = [f"{command}\n{run(shlex.split(command)[2:])}" for command in commands]
        return match[1] + "\n".join(parts) + match[3]

    return _CONSOLE.sub(block, text)


@contextlib.contextmanager
def simulated_task() -> Iterator[Callable[[list[str]], str]]:
    """The simulated shared task in a warehouse of its own; runs commands on it."""
    from warehouse import load
    from warehouse.simulation import simulate_shared_task, write_shared_task

    with tempfile.TemporaryDirectory(prefix="scorehouse-docs-") as folder:
        database = Path(folder) / "demo.duckdb"
        write_shared_task(Path(folder) / "task", simulate_shared_task())
        load([Path(folder) / "task"], database)
        yield lambda words: output_of(words, database)


def output_of(words: list[str], database: Path) -> str:
    """What a command prints to stdout.

    Raises ValueError: it fails.
    """
    from cli.main import exit_code

    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as written:
        code = exit_code(["--db", str(database), "--quiet", *words])
        written.flush()
        text = written.buffer.getvalue().decode("utf-8")
    if code:
        raise ValueError(f"scorehouse {shlex.join(words)} ended with {code}")
    return str(text)


def catalogue() -> str:
    """What warehouses define, which every file is compared with before it is used."""
    import migrations
    from warehouse.database.catalogue import written

    return written(migrations.sql_files())


def commands() -> str:
    """What `cli.hints.generated` reads."""
    from cli.hints import dashed
    from cli.main import program
    from metaeval.question import fields_of
    from metaeval.questions import HOMES, question_named

    fields = [one for name in HOMES for one in fields_of(question_named(name)).values()]
    flags = {one.name: dashed(one.option.flags[0]) for one in fields if one.option.flags}
    options = {one.name for one in fields if not one.is_argument} | flags.keys()
    flags |= {one.name: one.name for one in fields if one.name not in options}
    flags = {name: flag for name, flag in flags.items() if flag != dashed(name.replace("_", "-"))}
    summaries = {name: command.get_short_help_str(70) for name, command in program().commands.items()}
    return json.dumps({"summaries": summaries, "flags": flags}, indent=2, ensure_ascii=False) + "\n"


def stale(run: Callable[[list[str]], str], write: bool = False) -> list[str]:
    """Documents that are out of date; write: bring them up to date. run: see `answered`."""
    generated = sections()
    found = []
    for name in (CATALOGUE, COMMANDS, *DOCUMENTS, COOKBOOK):
        path = ROOT / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if name in (CATALOGUE, COMMANDS):
            fresh = catalogue() if name == CATALOGUE else commands()
        else:
            fresh = answered(cookbook() if name == COOKBOOK else renewed(text, generated), run)
        if fresh != text:
            found.append(name)
            if write:
                path.write_text(fresh, encoding="utf-8")
    return found


def main(arguments: Sequence[str]) -> int:
    """Exit code: 1 where `--check` finds a document out of date."""
    check = "--check" in arguments
    with simulated_task() as run:
        found = stale(run, write=not check)
    for name in found:
        print(f"{name}: {'out of date; run `python -m docs.generate`' if check else 'written'}")
    return int(check and bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
