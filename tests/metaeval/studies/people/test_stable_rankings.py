"""Stable rankings of single-rater scores, from files to the table."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from metaeval.studies.people.stable_rankings import stable_rankings
from queries.slices import Slice
from tests.helpers import SYSTEMS, tiny_layout
from tests.warehouse.readers.samples import esa
from warehouse import QuestionError, Warehouse, load
from warehouse.export.mtme import ScoreTable

SET = Slice("tiny24", "en-de")
N = 40


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Three raters of the same outputs: two agree but for a constant, the third turns the order round."""
    folder = tmp_path_factory.mktemp("rated")
    rng = np.random.default_rng(0)
    systems = SYSTEMS[:3]
    scores = np.round(rng.normal(size=(3, N)) + 2.0 * np.array([[2], [1], [0]]), 3)
    tables = {"r1": scores, "r2": scores - 1.0, "turned": -scores}
    root = tiny_layout(
        folder / "layout",
        documents=[("news", f"d{n}") for n in range(N)],
        systems=systems,
        humans={name: ScoreTable(systems=systems, seg=seg) for name, seg in tables.items()},
        metrics={},
        facts=False,
    )
    report = load([root], folder / "rated.duckdb")
    assert not report.faults
    with Warehouse.open(folder / "rated.duckdb") as warehouse:
        yield warehouse


@pytest.mark.slow
def test_raters_who_agree_are_stable_and_one_who_does_not_is_not(rated: Warehouse) -> None:
    agreed = stable_rankings(rated, SET, ["r1", "r2"], draws=20).frame
    assert agreed["stable"].to_list() == [1.0, 1.0, 1.0]
    assert agreed["n_apart"].to_list() == [3.0, 3.0, 3.0]
    frame = stable_rankings(rated, SET, ["r*", "turned"], draws=20).frame
    by_pair = {(first, second): stable for first, second, stable in frame.select("first", "second", "stable").rows()}
    assert by_pair["r1", "r2"] == by_pair["r2", "r1"] == 1.0
    assert by_pair["r1", "turned"] == by_pair["turned", "r2"] == 0.0


def test_one_rater_and_unknown_ones_are_refused(rated: Warehouse) -> None:
    with pytest.raises(QuestionError, match="no two judgements"):
        stable_rankings(rated, SET, ["r1"])
    with pytest.raises(QuestionError, match="unknown human score 'r9'"):
        stable_rankings(rated, SET, ["r1", "r9"])


@pytest.mark.slow
def test_judgements_of_one_score_are_ratings(tmp_path: Path) -> None:
    """Three judgements of each output, the same for all: every round is the first."""
    lines = [
        esa(
            system,
            item,
            score=str(90 - 10 * place + item % 7),
            user=user,
            document=f"d{item}",
            end=f"{1724876000 + n}.5",
        )
        for n, user in enumerate(("u1", "u2", "u3"))
        for place, system in enumerate(("Ash", "Beech"))
        for item in range(1, 13)
    ]
    path = tmp_path / "wmt24" / "esa.csv"
    path.parent.mkdir()
    path.write_text("".join(lines), encoding="utf-8")
    assert load([path], tmp_path / "rated.duckdb").faults == []
    with Warehouse.open(tmp_path / "rated.duckdb") as opened:
        frame = stable_rankings(opened, Slice("wmt24", "en-ja", human="esa"), ["esa"], draws=5).frame
    assert (frame["n_segments"][0], frame["n_systems"][0], frame.height) == (12, 2, 1 + 3 * 2)
    assert frame["stable"].to_list() == [1.0] * 7
    assert frame["n_apart"].to_list() == [1.0] * 7
