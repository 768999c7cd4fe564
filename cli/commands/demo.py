"""`scorehouse demo`."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.exit_codes import UsageError
from cli.options.folding import folded
from cli.options.output import Output
from cli.options.values import number
from cli.render import note
from cli.render.output import write

GREETING = """\
A tour of scorehouse on a simulated shared task: four years, three language pairs, and made-up systems, human scores and
metrics. You can run each command below yourself; its output follows."""

WALK: tuple[tuple[str, str], ...] = (
    ("The score files are read and checked like real ones.", "load {folder}"),
    ("What has been loaded?", "list testsets"),
    ("Which human scores are there, and how many segments were not judged?", "list humans sim24"),
    (
        "Which metric agrees best with human scores: on whole systems (spa), and on single segments (acc_eq)?",
        "rank sim24 en-de -m spa -m 'acc_eq(by=item)'",
    ),
    ("Which systems and metrics are in that ranking, which are not, and why?", "rank sim24 en-de --explain"),
    (
        "Is a metric really better than the next, or only by chance? Metrics in one cluster do not differ "
        "significantly.",
        "compare sim24 en-de -m 'acc_eq(by=item)' --status primary",
    ),
    (
        "Two of them, in depth: the difference, its interval, every test.",
        "compare sim24 en-de -m pearson Marlin-24 Kestrel-24 --all-tests",
    ),
    ("All language pairs by the rules of a year: every task and the overall score.", "protocol wmt24 --on sim24"),
    (
        "One segment to read: every output, best first, with its scores.",
        "show sim24 en-de 12 --metrics 'Marlin*' --systems '[A-D]*'",
    ),
    ("Accuracies count pairs: concordant, discordant and tied.", "counts sim24 en-de --by none"),
    (
        "Everything is in a database that you can query in SQL: do metric families get better over the years?",
        """sql "
    SELECT
      regexp_replace(base_metric, '-2[1-4]', '') AS name,
      corr(s.value, h.value) FILTER (s.year = 2022) AS r_2022,
      corr(s.value, h.value) FILTER (s.year = 2023) AS r_2023,
      corr(s.value, h.value) FILTER (s.year = 2024) AS r_2024
    FROM scores AS s
    JOIN human_scores AS h USING (testset, lp, system, segment)
    WHERE lp = 'ja-en' AND human = 'mqm'
    GROUP BY name
    HAVING isfinite(r_2024)
    ORDER BY r_2024 DESC
  " """,
    ),
)
FAREWELL = """\
That was it. `scorehouse COMMAND --help` explains each command, `scorehouse list measures` lists all measures, and
`scorehouse sql --schema` every view and column. `scorehouse load PATH` loads your own files."""


@folded
def demo(
    context: typer.Context,
    output: Output,
    seed: Annotated[int, number(int, "--seed", least=0, help="Random seed of the simulation.")] = 0,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the warehouse (at --db, or demo.duckdb here).")] = False,
) -> None:
    """Simulate a shared task and walk through the commands.

    Four years of simulated scores; no data and no network are needed.

    Example: scorehouse demo
    """
    from warehouse.temporary import temporary_folder

    if output.output is not None:
        raise UsageError("the demo shows several results, so --output does not apply")
    database = output.db or (Path("demo.duckdb") if keep else None)
    if database is not None and database.exists():
        raise UsageError(
            f"{database} already exists; the demo creates its own warehouse, so name another file with --db"
        )
    options = (["--quiet"] if output.quiet else []) + (["--format", output.format] if output.format is not None else [])
    is_quiet = output.quiet
    with temporary_folder() as temporary:
        folder = temporary / "shared-task"
        _walk(context.find_root().command, folder, ["--db", str(database or temporary / "demo.duckdb"), *options], seed)
    if database is not None:
        note(f"the demo's warehouse is {database}; use it with --db {database}", quiet=is_quiet)


def _walk(program: Callable[..., Any], folder: Path, options: list[str], seed: int) -> None:
    from cli.ending import run_program
    from warehouse.simulation import simulate_shared_task, write_shared_task

    write(f"{GREETING}\n", None)
    write_shared_task(folder, simulate_shared_task(seed))
    for place, (text, command) in enumerate(WALK, start=1):
        write(f"\n{place}. {text}\n\n$ scorehouse {command.format(folder=folder.name).rstrip()}\n\n", None)
        words = [str(folder) if word == "{folder}" else word for word in shlex.split(command)]
        code = run_program(program, [*options, *words])
        if code:
            raise typer.Exit(code)
    write(f"\n{FAREWELL}\n", None)
