"""Every command, on evaluation sets of every kind: an answer, or one clear line why there is none."""

import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tests.cli.sweeping import calls, fault
from tests.helpers import MQM, SYSTEMS, metric_tables, mqm_table, tiny_layout
from warehouse import LoadReport, Warehouse, load
from warehouse.export.mtme import ScoreTable


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Evaluation sets that lack something: human scores, official ones, those of segments, metrics, systems, facts."""
    folder = tmp_path_factory.mktemp("odd")
    by_system = ScoreTable(systems=SYSTEMS, sys=np.nanmean(np.array(MQM), axis=1))
    one_system = ScoreTable(systems=SYSTEMS[:1], seg=np.array(MQM)[:1])
    partial = {"Fine-src": ScoreTable(systems=SYSTEMS[:2], seg=np.zeros((2, 5)))}
    layouts = [
        tiny_layout(folder, testset="whole24"),
        tiny_layout(folder, testset="unjudged24", humans={}),
        tiny_layout(folder, testset="unofficial24", humans={"a": mqm_table(), "b": mqm_table()}, facts=False),
        tiny_layout(folder, testset="systems24", humans={"mqm": by_system}),
        tiny_layout(folder, testset="unscored24", metrics={}),
        tiny_layout(folder, testset="partial24", metrics=partial),
        tiny_layout(folder, testset="single24", humans={"mqm": one_system}),
        tiny_layout(folder, testset="submitted24", metrics={"Only-src": metric_tables()["Only-src"]}),
    ]
    report = load(layouts, folder / "odd.duckdb")
    assert not report.faults, report.faults
    return folder / "odd.duckdb"


def _halved(database: Path) -> Path:
    """A warehouse beside another, whose segment scores are half as large."""
    other = database.with_name("halved.duckdb")
    shutil.copy(database, other)
    with duckdb.connect(str(other)) as connection:
        connection.execute("UPDATE internal.score SET value = value / 2")
    return other


def _faults(database: Path, every_nth: int = 1) -> dict[str, str]:
    """What is wrong with the calls; of every seventeenth, say, and of one of each command that is not among them.

    Each test set has others than the one before it.
    """
    other = _halved(database)
    with Warehouse.open(database) as warehouse:
        testsets = [name for (name,) in warehouse.rows("SELECT testset FROM testsets ORDER BY ALL")]
        every = [list(calls(warehouse, [testset], other)) for testset in testsets]
    some = [words for number, own in enumerate(every) for words in own[3 * number % every_nth :: every_nth]]
    of_command = {words[0]: words for own in every for words in own}
    some += [of_command[command] for command in sorted(of_command.keys() - {words[0] for words in some})]
    assert len(some) > 40
    found = {" ".join(words): fault(database, words) for words in some}
    return {words: what for words, what in found.items() if what is not None}


@pytest.mark.slow
def test_evaluation_sets_that_lack_something_have_answers_or_reasons(odd: Path) -> None:
    assert _faults(odd, every_nth=17) == {}


@pytest.mark.long("every command on evaluation sets of every kind: 25 seconds")
def test_evaluation_sets_that_lack_something_have_answers_or_reasons_for_every_call(odd: Path) -> None:
    assert _faults(odd) == {}


@pytest.mark.long("every command on all real evaluation sets: tens of minutes")
def test_every_real_evaluation_set_has_answers_or_reasons(real_load: tuple[Path, LoadReport], tmp_path: Path) -> None:
    own = Path(shutil.copy(real_load[0], tmp_path))  # commands store results, and other tests read meanwhile
    assert _faults(own) == {}
