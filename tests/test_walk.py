"""The ways through the modules, as docs/walk.md lists them."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from cli.main import exit_code
from tests.walking import calls_of, first_entered, passed, steps_of
from warehouse import load

FILE = (
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
    "A\td\t1\t1\tr1\ts\tt\tAccuracy/Omission\tMajor",
    "B\td\t1\t1\tr1\ts\tt\tNo-error\tno-error",
)


def _ran(*words: str) -> None:
    assert exit_code(list(words)) == 0


def test_a_file_passes_the_modules_of_the_walk_in_its_order(tmp_path: Path) -> None:
    (tmp_path / "mqm_newstest2020_ende.tsv").write_text("".join(f"{line}\n" for line in FILE))

    def act() -> None:
        assert load([tmp_path], tmp_path / "w.duckdb").is_clean

    steps = [step for step in steps_of("From a file to its rows") if step.startswith("warehouse.")]
    assert len(steps) > 20
    assert first_entered(calls_of(act), steps) == list(dict.fromkeys(steps))


def test_rank_passes_the_modules_of_the_walk_in_its_order(simulated_database: Path) -> None:
    words = ("rank", "sim24", "cs-uk", "-m", "pearson", "--db", str(simulated_database))
    _ran(*words)  # what is imported and kept on first use is no step
    steps = steps_of("From `rank` to its number")
    assert len(steps) == 16
    assert passed(calls_of(lambda: _ran(*words)), steps) == steps


@pytest.mark.slow
def test_rank_with_clusters_opens_fetches_and_evaluates_once(simulated_database: Path, tmp_path: Path) -> None:
    database = shutil.copy(simulated_database, tmp_path / "copy.duckdb")
    options = ("--significance", "--draws", "20", "--seed", "7", "--db", database)
    words = ("rank", "sim24", "cs-uk", "-m", "pearson", "-m", "pa", "-m", "acc_eq(by=item)", *options)
    seen = Counter(calls_of(lambda: _ran(*words)))
    assert seen["warehouse.database.connection", "open"] == 1
    assert seen["queries.blocks", "fetch_block"] == 1
    assert seen["metaeval.evaluation", "evaluate"] == 3  # one for each measure
    assert seen["warehouse.database.results", "store_results"] == 3
