"""Metrics that disagree with people throughout a test set are named beside the ranking; others are not."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import metaeval
from metaeval.measures import DEFINITIONS, parse_measure
from metaeval.options import Options
from metaeval.study import study
from queries.selection import Slice
from tests.helpers import tiny_layout
from warehouse import Warehouse, load
from warehouse.export.mtme import ScoreTable
from warehouse.own.scores import add

OF_SCORES = [name for name, one in DEFINITIONS.items() if not one.needs_spans]
"""Measures that need no marked errors, of which the scores of these tests have none."""
SYSTEMS = ("A", "B", "C", "D", "E", "F")
HUMAN = np.array([1.0, 2, 3, 4, 5, 6])
NAMED = "Errors-src correlates negatively with mqm system scores: -0.9"


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """A metric of errors; a human reference, good by people and bad by it, must not hide what the systems show."""
    folder = tmp_path_factory.mktemp("wrong")
    systems, human = (*SYSTEMS, "refB"), np.array([*HUMAN, 20])
    mixed = np.array([6.0, 2, 4, 1, 3, 5, 0])
    scores = {
        "Errors-src": np.array([*-HUMAN, 40]) + 0.1 * mixed,
        "Good-src": human,
        "Random-sysname-src": -human,
    }
    tiny_layout(
        folder / "in",
        systems=systems,
        humans={"mqm": ScoreTable(systems, seg=human[:, None] + [-1.0, 0, 1], sys=human)},
        metrics={name: ScoreTable(systems, seg=x[:, None] + [-1.0, 0, 1], sys=x) for name, x in scores.items()},
        documents=(("news", "a"), ("news", "b"), ("news", "c")),
        texts=False,
    )
    report = load([folder / "in"], folder / "a.duckdb")
    assert report.is_clean, report.faults
    with Warehouse.open(folder / "a.duckdb") as warehouse:
        yield warehouse


def test_a_metric_that_falls_where_people_rise_is_named_by_every_door(wrong: Warehouse) -> None:
    silent = []
    for measure in OF_SCORES:
        ranked = study(wrong, Slice("tiny24", "en-de", human="mqm"), [parse_measure(measure)], Options()).notes
        compared = metaeval.compare(wrong, "tiny24", "en-de", measure=measure, human="mqm", draws=10).notes
        for door, notes in (("rank", ranked), ("compare", compared)):
            match [note for note in notes if "correlates" in note]:
                case [note] if note.startswith(NAMED) and "over 6 MT systems; wrong sign?" in note:
                    pass
                case found:
                    silent.append((measure, door, found))
    assert not silent


def test_the_sign_of_scores_of_error_spans_is_not_in_doubt(tmp_path: Path) -> None:
    scores = ScoreTable(SYSTEMS, seg=HUMAN[:, None] + [-1.0, 0, 1], sys=HUMAN)
    tiny_layout(
        tmp_path / "in",
        systems=SYSTEMS,
        humans={"mqm": scores},
        metrics={"Good-src": scores},
        documents=(("news", "a"), ("news", "b"), ("news", "c")),
    )
    assert load([tmp_path / "in"], tmp_path / "a.duckdb").is_clean
    lines = ["system,segment,start,end,severity"]
    for n_errors, system in enumerate(SYSTEMS, 1):  # the better by people, the more errors
        lines += [f"{system},{at},{n},{n + 1},minor" for at in (1, 2, 3) for n in range(n_errors)]
    (tmp_path / "spans.csv").write_text("\n".join(lines) + "\n")
    report = add([tmp_path / "spans.csv"], tmp_path / "a.duckdb", "Spans", testset="tiny24", lp="en-de")
    assert not report.faults, report.faults
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        asked = Slice("tiny24", "en-de", human="mqm", own=True)
        notes = study(warehouse, asked, [parse_measure("pearson")], Options()).notes
    (note,) = [note for note in notes if "correlates" in note]
    assert note.startswith("Spans-src correlates negatively with mqm system scores: -1.000 over 6 MT systems")
    assert "wrong sign" not in note


def test_a_metric_that_scores_all_systems_alike_is_named(tmp_path: Path) -> None:
    """By segment it may differ, as one does that reads the source alone."""
    human = HUMAN[:, None] + [-1.0, 0, 1]
    metrics = {"Asleep-src": np.tile([0.1, 0.7, 0.4], (6, 1)), "Awake-src": human}
    tiny_layout(
        tmp_path / "in",
        systems=SYSTEMS,
        humans={"mqm": ScoreTable(SYSTEMS, seg=human, sys=HUMAN)},
        metrics={name: ScoreTable(SYSTEMS, seg=x, sys=x.mean(axis=1)) for name, x in metrics.items()},
        documents=(("news", "a"), ("news", "b"), ("news", "c")),
        texts=False,
    )
    load([tmp_path / "in"], tmp_path / "a.duckdb")
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        notes = metaeval.rank(warehouse, "tiny24", "en-de", measures=["spa(n=9)"]).notes
    assert [note.partition(":")[0] for note in notes if "all systems have the same scores" in note] == ["Asleep-src"]
