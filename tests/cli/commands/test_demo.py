"""The demo: every command of the walk works, stdout is the walk and its data, and the rankings recover the truth."""

import io
import pickle
import re
import shlex
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from itertools import permutations
from pathlib import Path

import pytest

from cli.commands.demo import FAREWELL, GREETING, WALK
from cli.main import exit_code
from tests.cli.running import Ran, Scorehouse, refused, unchanged
from tests.helpers import rank
from tests.sharing import written
from warehouse import LoadReport, Warehouse
from warehouse.simulation import simulate_shared_task
from warehouse.simulation.evalset import SimulatedEvalset


@pytest.fixture(scope="module")
def demo(simulated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The demo in an empty folder; its shared task, which other tests have loaded, is neither written nor loaded again.

    The test of the wheel runs it as a newcomer does.
    """
    folder = tmp_path_factory.mktemp("newcomer")

    def copied(paths: Sequence[Path], database: Path, **options: object) -> LoadReport:
        written(database, simulated_database.read_bytes())
        report: LoadReport = pickle.loads(simulated_database.with_suffix(".report").read_bytes())
        return report

    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setenv("XDG_DATA_HOME", str(folder))
        patch.delenv("SCOREHOUSE_DB", raising=False)
        patch.setattr("warehouse.simulation.simulate_shared_task", lambda seed: ())
        patch.setattr("warehouse.simulation.write_shared_task", lambda folder, evalsets: folder.mkdir())
        patch.setattr("warehouse.load", copied)
        code = exit_code(["demo"])
    assert code == 0, err.getvalue()
    assert list(folder.iterdir()) == []  # it cleans up behind itself
    out.seek(0)
    return Ran(code, out.read(), err.getvalue())


@pytest.mark.slow
def test_stdout_is_the_walk_and_its_data(demo: Ran) -> None:
    assert demo.out.startswith(GREETING)
    assert demo.out.endswith(FAREWELL + "\n")
    shown = re.findall(r"^\d+\. (.+)$", demo.out, re.MULTILINE)
    assert shown == [text for text, _ in WALK]
    commands = re.findall(r"^\$ scorehouse (\S+)", demo.out, re.MULTILINE)
    assert commands == [shlex.split(command)[0] for _, command in WALK]
    assert "measure:" not in demo.out


@pytest.mark.slow
def test_every_step_of_the_walk_shows_a_table(demo: Ran) -> None:
    for part in re.split(r"^\d+\. ", demo.out, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        rule = next(number for number, line in enumerate(lines) if line.startswith("──"))
        assert lines[rule + 1].strip(), "a table without rows"


@pytest.mark.slow
def test_the_walk_covers_the_first_commands(demo: Ran) -> None:
    assert {"load", "list", "rank", "counts", "sql"} <= {shlex.split(command)[0] for _, command in WALK}


@pytest.mark.slow
def test_the_last_table_shows_neural_families_that_get_better(demo: Ran) -> None:
    rows = [line.split() for line in demo.out.splitlines() if re.match(r"\S+ +-?\d\.\d{6} ", line)]
    by_family = {row[0]: [float(value) for value in row[1:]] for row in rows}
    for family in ("Marlin", "Marlin-XL", "Kestrel", "Kestrel-QE"):
        assert by_family[family] == sorted(by_family[family])
        assert by_family[family][-1] > by_family["simBLEU"][-1] + 0.1
    assert abs(by_family["Dice"][-1]) < 0.05


@pytest.fixture
def short_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps over one evaluation set."""
    monkeypatch.setattr("cli.commands.demo.WALK", WALK[:2])
    monkeypatch.setattr(
        "warehouse.simulation.simulate_shared_task",
        lambda seed: simulate_shared_task(seed, years=(2024,), lps=("cs-uk",)),
    )


@pytest.mark.slow
@pytest.mark.usefixtures("short_demo")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("demo", "--keep"), "demo.duckdb"),
        (("demo", "--db", "mine.duckdb"), "mine.duckdb"),
        pytest.param(
            ("--db", "mine.duckdb", "demo"), "mine.duckdb", marks=pytest.mark.long("loads once more: half a second")
        ),
    ],
)
def test_the_demo_keeps_its_warehouse_where_it_is_told_to(
    words: tuple[str, ...], name: str, scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = scorehouse(*words)
    assert ran.code == 0
    assert f"warehouse is {name}; use it with --db {name}" in ran.notes[-1]
    (row,) = scorehouse("--db", name, "list", "lps", "--format", "json").json
    assert (row["testset"], row["lp"]) == ("sim24", "cs-uk")
    refused(scorehouse(*words), 2, name, "already exists")


@pytest.mark.slow
@pytest.mark.usefixtures("short_demo")
def test_the_demo_leaves_the_warehouse_of_the_environment_alone(
    scorehouse: Scorehouse, default_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with unchanged(default_database):  # the fixture has it in SCOREHOUSE_DB
        ran = scorehouse("demo", "-q", "--format", "markdown")
    assert (ran.code, ran.err) == (0, "")
    assert "| testset | lp |" in ran.out
    refused(scorehouse("demo", "-o", "a.csv"), 2, "--output")
    assert list(tmp_path.iterdir()) == []


def test_a_ranking_finds_the_truth_again(
    simulated_task: tuple[SimulatedEvalset, ...], simulated_warehouse: Warehouse
) -> None:
    """Sentinels know segments alone, and quantised metrics tie."""
    (evalset,) = (one for one in simulated_task if (one.testset, one.lp) == ("sim24", "en-de"))
    facts = [fact for fact in evalset.metric_facts if fact.kind in ("string", "neural", "random")]
    truth = {fact.name: fact.signal_to_noise for fact in facts}
    for measure in ("pearson(by=none)", "acc_eq(by=item)", "tau_b(by=item)"):
        rows = rank(simulated_warehouse, "sim24", "en-de", (measure,)).rows(named=True)
        values = {row["metric"]: row["value"] for row in rows if row["metric"] in truth}
        pairs = [(a, b) for a, b in permutations(values, 2) if truth[a] > 1.25 * truth[b]]
        assert len(pairs) > 20
        assert sum(values[a] > values[b] for a, b in pairs) >= 0.95 * len(pairs)
