"""What the program itself knows best: measured levels of tests, and the output of examples.

`python -m docs.generate` writes the tables between the marks `<!-- begin NAME -->` and `<!-- end NAME -->` of the
documents, and below each `$ scorehouse ...` of a `console` block what that command prints on the simulated shared
task. With `--check` it changes nothing and fails where a document is out of date.
"""

import contextlib
import io
import json
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from docs.level_tables import levels_of_defaults
from docs.people_tables import assisted_replays, replacement_levels, sequential_replays

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("README.md", *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")))
CATALOGUE = "migrations/catalogue.json"
COMMANDS = "cli/commands.json"
_CONSOLE = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)
_SECTION = re.compile(r"(<!-- begin ([a-z-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


# ---------------------------------------------------------------- documents


def sections() -> dict[str, str]:
    """Every generated section by name."""
    return {
        "levels": levels_of_defaults(),
        "assisted-replays": assisted_replays(),
        "sequential-replays": sequential_replays(),
        "replacement-levels": replacement_levels(),
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
    """What a command prints to stdout; notes and progress go nowhere.

    Raises ValueError: it fails.
    """
    from cli.main import exit_code

    notes = contextlib.redirect_stderr(io.StringIO())
    with notes, contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as written:
        code = exit_code(["--db", str(database), *words])
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
    from metaeval.questions import QUESTIONS, question_named
    from warehouse.fields import fields_of

    fields = [one for name in QUESTIONS for one in fields_of(question_named(name)).values()]
    flags = {one.name: dashed(one.option.flags[0]) for one in fields if one.option.flags}
    options = {one.name for one in fields if not one.is_argument} | flags.keys()
    flags |= {one.name: one.name for one in fields if one.name not in options}
    flags = {name: flag for name, flag in flags.items() if flag != dashed(name.replace("_", "-"))}
    summaries = {name: command.get_short_help_str(70) for name, command in program().commands.items()}
    renamed: dict[str, list[str]] = {}
    for one in fields:
        new = dashed(one.name.replace("_", "-"))
        if one.option.formerly and new not in (
            names := renamed.setdefault(dashed(one.option.formerly.replace("_", "-")), [])
        ):
            names.append(new)
    return json.dumps({"summaries": summaries, "flags": flags, "renamed": renamed}, indent=2, ensure_ascii=False) + "\n"


def stale(run: Callable[[list[str]], str], write: bool = False) -> list[str]:
    """Documents that are out of date; write: bring them up to date. run: see `answered`."""
    generated = sections()
    found = []
    made = {CATALOGUE: catalogue, COMMANDS: commands}
    for name in (*made, *DOCUMENTS):
        path = ROOT / name
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        fresh = made[name]() if name in made else answered(renewed(text, generated), run)
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
