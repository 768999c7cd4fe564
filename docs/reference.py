"""Reference pages, made from the program itself while the site is built: nothing of them can be out of date.

`python -m mkdocs build` calls `on_files`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from docs.generate import answered, output_of, simulated_task
from docs.tables import table

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]

_MEASURES = """# Measures

What can metrics be ranked by? A measure is written as a name with parameters, such as `tau_b(by=system,
epsilon=0.5)`, and always printed the same way, so that you can copy it from an answer into the next command.
`pearson`, `spearman` and `kendall` exist at both levels: with `by` they compare segments, without it systems.
`pearson(top=n)` takes only the n best systems. [Methods](../methods/agreement.md) works each measure out on a small
example.

In the formulas, `C`, `D`, `Th`, `Tm` and `Thm` are numbers of pairs: concordant, discordant, tied by the human score
only, by the metric only, and by both. `P` is their sum.
"""
_TESTS = """
## Tests

The tests that apply to each measure with its default parameters. The first is the default, except for means of segment
scores (`--system-score judged-mean`, or a part of a test set), which are tested by `bootstrap-normal`.
[Significance](../methods/significance.md) explains each test.
"""
_SCHEMA = """# Views and columns

Which views and columns does the warehouse have? The views join names in, every column has a comment in the file
itself, and views keep their meaning when the tables behind them change. The tables are in the schema `internal`, so
that `SHOW TABLES` lists only views. `scorehouse sql --schema` prints this page from your own file, and `--schema
evalsets` one view. Any DuckDB client from version 1.4 can read the file. Table macros, such as `concordance` and
`pearson_by_metric`, need DuckDB 1.5 if DuckDB 2 made the file; a client that attached the file under another name
runs `USE` before it calls one.

Higher is better in every score: scores that count errors are negated when they are loaded, and the column
`is_negated` of the table `internal.vector` says so. Missing values are `NULL`, never NaN or 0. Segments are numbered
from 1, by their line in the test set.
"""


# ---------------------------------------------------------------- measures


def measure_list() -> str:
    """One row per measure."""
    from metaeval.measures.registry import DEFINITIONS

    rows = []
    for measure, definition in DEFINITIONS.items():
        level = "system" if definition.level == "sys" else "segment"
        words = [f"`{measure}`", level, definition.meaning, definition.formula, definition.range, definition.source]
        rows.append(words)
    return table(["measure", "level", "says", "formula", "range", "source"], rows)


def measure_tests() -> str:
    """One row per measure: the tests that apply, and why."""
    from metaeval.measures.registry import DEFINITIONS

    rows = []
    for name, definition in DEFINITIONS.items():
        measure = definition.measure
        rows.append([f"`{name}`", ", ".join(f"`{test}`" for test in measure.tests) or "none", measure.why_tests])
    return table(["measure", "tests", "because"], rows)


def measure_parameters() -> str:
    """One row per parameter."""
    from metaeval.measures.registry import DEFINITIONS

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
    """One row per macro."""
    rows = [[f"`{row['name']}`", row["meaning"]] for row in _dictionary() if row["kind"] == "macro"]
    return table(["macro", "gives"], rows)


# ---------------------------------------------------------------- cookbook

_COOKBOOK = """# Cookbook

Questions that researchers ask of several years of metrics tasks, each answered by one query over the public views
([views and columns](schema.md)). `scorehouse sql --example NAME` prints a query and runs it on your warehouse;
`--example` alone lists them. They name no test set, so they run on any; narrow them with `WHERE testset = ... AND lp
= ...`. What is shown is the answer on the warehouse of `scorehouse demo --keep`, whose systems, metrics and people
are simulated. A table without rows means that the simulated task has no such case, such as two annotators of one
output.
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


def answered_cookbook() -> str:
    """The page of all examples, answered on the simulated task."""
    with simulated_task() as run:
        return answered(cookbook(), run)


# ---------------------------------------------------------------- pages


def measures() -> str:
    """The page of measures."""
    parameters = f"## Parameters\n\n{measure_parameters()}"
    return "\n".join([_MEASURES, measure_list(), parameters, _TESTS, measure_tests()])


def schema() -> str:
    """The page of views, macros and tables."""
    parts = [("Views", schema_part("view")), ("Macros", macro_list()), ("Tables", schema_part("table"))]
    return _SCHEMA + "".join(f"\n## {title}\n\n{text}" for title, text in parts)


def commands() -> str:
    """The page of all commands: what `--help` prints."""
    from cli.main import COMMANDS

    with mock.patch.dict(os.environ, COLUMNS="100"):
        helps = {name: output_of([*name.split(), "--help"], Path("none")) for name in COMMANDS}
    parts = [f"\n## {name}\n\n```text\n{text.strip()}\n```\n" for name, text in sorted(helps.items())]
    return "# Commands\n\nWhat does each command do, and which options does it have?\n" + "".join(parts)


PAGES = {
    "reference/commands.md": commands,
    "reference/measures.md": measures,
    "reference/schema.md": schema,
    "reference/cookbook.md": answered_cookbook,
    "reference/changelog.md": lambda: (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    "reference/contributing.md": lambda: (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
}
"""Pages by their paths in the site, and what makes each."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference to the pages of the site."""
    from mkdocs.structure.files import File

    for path, page in PAGES.items():
        files.append(File.generated(config, path, content=page()))
    files.append(File.generated(config, "llms.txt", content=llms_txt()))
    return files


PITFALLS = (
    "Values of different test sets or years are not comparable: systems, segments and human scores differ.",
    "Quote the signature with a value: it records the measure, the data and the conventions.",
    "Metrics in one significance cluster do not differ significantly; a higher value alone is no evidence.",
    "Metric names carry their reference: COMET-refA and COMET-refB are two sets of scores.",
    "A missing score is NULL, never 0.",
)


def llms_txt() -> str:
    """The site for language models: what the program is, its pages, its commands, and what is easily misread."""
    import yaml

    from cli.hints import generated

    settings = (Path(__file__).parents[1] / "mkdocs.yml").read_text(encoding="utf-8")
    described = yaml.safe_load(settings)
    lines = ["# scorehouse", "", f"> {described['site_description']}", ""]
    lines += [
        "`scorehouse mcp` offers every question as a tool of the Model Context Protocol.",
        "",
        "## Easily misread",
        "",
    ]
    lines += [f"- {pitfall}" for pitfall in PITFALLS]
    lines += ["", "## Pages", "", *(f"- [{name}]({path[:-3]}.html)" for name, path in _pages(described["nav"]))]
    lines += ["", "## Commands", ""]
    lines += [f"- `scorehouse {name}`: {summary}" for name, summary in generated()["summaries"].items()]
    return "\n".join(lines) + "\n"


def _pages(nav: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for entry in nav:
        for name, place in entry.items():
            if isinstance(place, str):
                yield name, place
            else:
                yield from _pages(place)
