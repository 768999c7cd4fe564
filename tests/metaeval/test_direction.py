"""Metrics that disagree with people throughout a test set are named beside the ranking; others are not."""

from pathlib import Path

import numpy as np
import pytest

from metaeval.measures import parse_measure
from metaeval.options import Options
from metaeval.study import study
from queries.selection import Slice
from tests.helpers import tiny_layout
from warehouse import Warehouse, load
from warehouse.export.mtme import ScoreTable

SYSTEMS = ("A", "B", "C", "D", "E", "F")
HUMAN = np.array([1.0, 2, 3, 4, 5, 6])


@pytest.mark.slow
def test_a_metric_that_falls_where_people_rise_is_named_where_it_does_so_throughout(tmp_path: Path) -> None:
    mixed = np.array([6.0, 2, 4, 1, 3, 5])
    for lp, once in (("en-de", -HUMAN), ("en-cs", HUMAN), ("en-ru", HUMAN)):
        scores = {"Errors-src": -HUMAN + 0.1 * mixed, "Once-src": once, "Good-src": HUMAN, "Random-sysname-src": -HUMAN}
        tiny_layout(
            tmp_path / "in",
            lp=lp,
            systems=SYSTEMS,
            humans={"mqm": ScoreTable(SYSTEMS, sys=HUMAN)},
            metrics={name: ScoreTable(SYSTEMS, sys=values) for name, values in scores.items()},
            texts=False,
        )
    (tmp_path / "in" / "tiny24" / "testset.toml").unlink()
    assert load([tmp_path / "in"], tmp_path / "a.duckdb").is_clean
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        found = study(warehouse, Slice("tiny24", "en-de", human="mqm"), [parse_measure("pearson")], Options())
        other = study(warehouse, Slice("tiny24", "en-cs", human="mqm"), [parse_measure("pearson")], Options())
    told = "Errors-src correlates negatively with human system scores in 3 of 3 evaluation sets of tiny24 (mean -1.00)"
    assert [note.partition(";")[0] for note in found.notes if "correlates" in note] == [told]
    assert found.remarks == other.remarks
