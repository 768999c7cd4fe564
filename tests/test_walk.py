"""What a question does once."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from cli.main import exit_code
from tests.walking import calls_of


def _ran(*words: str) -> None:
    assert exit_code(list(words)) == 0


@pytest.mark.slow
def test_rank_with_clusters_opens_fetches_and_evaluates_once(simulated_database: Path, tmp_path: Path) -> None:
    database = shutil.copy(simulated_database, tmp_path / "copy.duckdb")
    options = ("--significance", "--resamples", "20", "--seed", "7", "--db", str(database))
    words = ("rank", "sim24", "cs-uk", "-m", "pearson", "-m", "pa", "-m", "acc_eq(by=item)", *options)
    seen = Counter(calls_of(lambda: _ran(*words)))
    assert seen["warehouse.database.connection", "open"] == 1
    assert seen["queries.blocks", "fetch_block"] == 1
    # one for each measure; for pearson and pa also by the means that tests take, and by the other scores of systems
    assert seen["metaeval.results.evaluation", "_evaluation"] == 7
    assert seen["warehouse.database.connection", "store_results"] == 3
