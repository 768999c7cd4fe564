"""Means of human scores with a metric's help: from files to estimates."""

from pathlib import Path

import numpy as np
import pytest

import metaeval
from metaeval.kernels.resampling.assisted_means import assisted_mean
from warehouse import QuestionError, Warehouse, load
from warehouse.readers.claims import LoadHints

N, JUDGED = 120, range(1, 61, 2)


@pytest.fixture(scope="module")
def scores() -> dict[str, np.ndarray]:
    """Two systems; of 120 segments people judged every second of the first sixty. Perfect is what they would say."""
    rng = np.random.default_rng(3)
    truth = {system: rng.normal(mean, 1, N).round(3) for system, mean in (("A", 0.0), ("B", 1.0))}
    return {**truth, "noise": rng.normal(0, 1, N).round(3)}


@pytest.fixture(scope="module")
def lab(scores: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("assisted")
    people = [f"{system},{segment},{scores[system][segment - 1]}\n" for system in "AB" for segment in JUDGED]
    people += ["C,1,0.5\n"]
    metrics = [
        f"{system},{segment},{2 * scores[system][segment - 1] + 5},{scores['noise'][segment - 1]}\n"
        for system in "AB"
        for segment in range(1, N + 1)
    ]
    metrics += [f"C,{segment},1,2\n" for segment in range(1, N + 1)]
    (folder / "people.csv").write_text("system,segment,score\n" + "".join(people))
    (folder / "metrics.csv").write_text("system,segment,Perfect,Noise\n" + "".join(metrics))
    for name, human in (("metrics.csv", None), ("people.csv", "score")):
        load([folder / name], folder / "w.duckdb", given=LoadHints(testset="lab", lp="en-de", human=human))
    return folder / "w.duckdb"


@pytest.mark.slow
def test_a_perfect_metric_gives_the_mean_over_all_segments(lab: Path, scores: dict[str, np.ndarray]) -> None:
    with Warehouse.open(lab) as warehouse:
        answer = metaeval.means(warehouse, "lab", "en-de", assisted_by=["Perfect"])
    assert answer.frame["system"].to_list() == ["B", "A"]
    for row in answer.frame.iter_rows(named=True):
        assert row["assisted"] == pytest.approx(scores[row["system"]].mean())
        assert row["high"] - row["low"] == pytest.approx(0, abs=1e-6)
        assert row["saved"] == pytest.approx(1)
        assert (row["n_judged"], row["n_segments"]) == (30, 120)
    assert any("1 system with fewer than 5 judged segments excluded: C" in note for note in answer.notes)


def test_a_useless_metric_changes_little_and_the_numbers_are_the_kernel_s(
    lab: Path, scores: dict[str, np.ndarray]
) -> None:
    with Warehouse.open(lab) as warehouse:
        row = metaeval.means(warehouse, "lab", "en-de", assisted_by="Noise", seed=4).frame.row(1, named=True)
    order = np.random.default_rng(4).permutation(N)
    sample = order[np.isin(order + 1, JUDGED)]
    noise = scores["noise"]
    expected = assisted_mean(scores["A"][sample], noise[sample], noise)
    assert (row["assisted"], row["low"], row["high"]) == pytest.approx(expected[:3])
    assert row["saved"] == pytest.approx(expected.saved)
    assert row["saved"] < 0.1


def test_what_cannot_be_estimated_is_refused(lab: Path) -> None:
    with Warehouse.open(lab) as warehouse:
        with pytest.raises(QuestionError, match="unknown metric 'Perfekt'"):
            metaeval.means(warehouse, "lab", "en-de", assisted_by="Perfekt")
        with pytest.raises(QuestionError, match="no system has 5 segments"):
            metaeval.means(warehouse, "lab", "en-de", assisted_by="Perfect", systems=["C"])
        with pytest.raises(QuestionError, match="assisted_by"):
            metaeval.means(warehouse, "lab", "en-de", seed=3)
