"""Means of human scores with a metric's help: from files to estimates."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

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
    assert any("1 system with fewer than 5 judged segments is excluded: C" in note for note in answer.notes)


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


def test_a_difference_is_estimated_from_differences_by_segment(lab: Path, scores: dict[str, np.ndarray]) -> None:
    with Warehouse.open(lab) as warehouse:
        (two,) = metaeval.systems(warehouse, "lab", "en-de", "A", ["B"], assisted_by="Perfect").frame.rows(named=True)
        pairs = metaeval.systems(warehouse, "lab", "en-de", assisted_by="Noise")
    assert (two["first"], two["second"], two["n_judged"], two["n_segments"]) == ("B", "A", 30, 120)
    assert two["assisted"] == pytest.approx((scores["B"] - scores["A"]).mean())
    assert two["is_significant"]
    judged = [segment - 1 for segment in JUDGED]
    assert two["judged_difference"] == pytest.approx((scores["B"] - scores["A"])[judged].mean())
    # Both systems have the same noise: its differences are 0, and the estimate is the plain one.
    (row,) = pairs.frame.rows(named=True)
    assert row["assisted"] == pytest.approx(row["judged_difference"])
    half = stats.t.ppf(0.975, 29) * np.sqrt((scores["B"] - scores["A"])[judged].var(ddof=1) * (1 / 30 - 1 / 120))
    assert row["high"] - row["assisted"] == pytest.approx(half)
    error = half / stats.t.ppf(0.975, 29)
    assert row["p"] == pytest.approx(2 * stats.t.sf(row["assisted"] / error, 29))
    assert any("1 pair" in note or "2 pairs" in note for note in pairs.notes)


@pytest.mark.parametrize(
    ("words", "options", "why"),
    [
        (("A",), {}, "name two systems, or none"),
        (("A", ["A"]), {}, "name two systems, or none"),
        (("A", ["B"]), {"test": "wilcoxon"}, "test does nothing with assisted_by"),
        (("C",), {}, "name two systems, or none"),
    ],
)
def test_differences_need_two_systems_and_no_test(
    lab: Path, words: tuple[Any, ...], options: dict[str, Any], why: str
) -> None:
    with Warehouse.open(lab) as warehouse, pytest.raises(QuestionError, match=why):
        metaeval.systems(warehouse, "lab", "en-de", *words, assisted_by="Perfect", **options)


def _drawn(folder: Path, rows: str) -> Path:
    (folder / "drawn.csv").write_text(rows)
    return folder / "drawn.csv"


def test_sampled_segments_are_weighted_by_their_probabilities(
    lab: Path, scores: dict[str, np.ndarray], tmp_path: Path
) -> None:
    chances = {segment: 0.25 if segment < 30 else 0.5 for segment in JUDGED}
    rows = "".join(f"lab,en-de,{segment},{chance}\n" for segment, chance in chances.items())
    path = _drawn(tmp_path, f"testset,lp,segment,probability\n{rows}lab,de-en,2,0.1\n")
    with Warehouse.open(lab) as warehouse:
        plain = metaeval.means(warehouse, "lab", "en-de", assisted_by="Noise", systems=["A"])
        found = metaeval.means(warehouse, "lab", "en-de", assisted_by="Noise", systems=["A"], sampled_by=path)
    weights = [1 / chances[segment] for segment in JUDGED]
    judged = scores["A"][[segment - 1 for segment in JUDGED]]
    assert found.frame["judged_mean"].to_list() == pytest.approx([np.average(judged, weights=weights)])
    assert "weights:inverse_probability" in found.signature
    assert found.signature != plain.signature
    assert any("weighted by the inverse" in note for note in found.notes)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("segment,probability\n1,0.5\n", "29 judged segments of lab en-de: not among the sampled segments"),
        ("segment,utility\n1,0.5\n", "has no probabilities: its segments were selected"),
        ("segment,probability\n1,\n3,0.5\n", "has no probabilities"),
        ("segment,probability\n1,1.5\n", "above 0 and at most 1"),
        ("system,probability\n1,1\n", "no column segment"),
        ("lp,segment,probability\nde-en,1,1\n", "no segments of lab en-de"),
        ("segment,probability\none,1\n", "expected numbers"),
    ],
)
def test_a_file_that_tells_no_probabilities_is_refused(lab: Path, tmp_path: Path, rows: str, why: str) -> None:
    path = _drawn(tmp_path, rows)
    with Warehouse.open(lab) as warehouse, pytest.raises(QuestionError, match=why):
        metaeval.means(warehouse, "lab", "en-de", assisted_by="Perfect", sampled_by=path)


def test_a_drawn_sample_has_its_probabilities(simulated_warehouse: Warehouse) -> None:
    drawn = {"method": "random", "size": 20, "candidates": "all"}
    plain = metaeval.sample(simulated_warehouse, "sim24", "en-de", **drawn).frame
    n = metaeval.sample(simulated_warehouse, "sim24", "en-de", method="random", candidates="all").frame.height
    assert plain["probability"].to_list() == pytest.approx([20 / n] * 20)
    domains = metaeval.sample(simulated_warehouse, "sim24", "en-de", method="random", candidates="all").frame
    sizes = dict(domains.group_by("domain").len().rows())
    balanced = metaeval.sample(simulated_warehouse, "sim24", "en-de", balance=True, **drawn).frame
    for (domain,), rows in balanced.group_by("domain"):
        assert rows["probability"].to_list() == pytest.approx([rows.height / sizes[domain]] * rows.height)
    words = metaeval.sample(simulated_warehouse, "sim24", "en-de", method="random", words=200).frame
    assert words["probability"].null_count() == words.height
    assert "probability" not in metaeval.sample(simulated_warehouse, "sim24", "en-de", size=20).frame.columns


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 documents of three segments; people judged the 12 that the metric likes best, whole."""
    folder = tmp_path_factory.mktemp("documents")
    rng = np.random.default_rng(8)
    liked = np.sort(rng.normal(size=40))[::-1]
    rows = [
        (f"d{document}", segment, system, liked[document] + rng.normal() / 2)
        for document in range(40)
        for segment in range(1, 4)
        for system in "AB"
    ]
    lines = [f"{system},{document},{segment},{value:.4f}\n" for document, segment, system, value in rows]
    people = [line for line, (document, *_) in zip(lines, rows, strict=True) if int(document[1:]) < 12]
    (folder / "metric.csv").write_text("system,document,segment,Liker\n" + "".join(lines))
    (folder / "people.csv").write_text("system,document,segment,score\n" + "".join(people))
    for name, human in (("metric.csv", None), ("people.csv", "score")):
        given = LoadHints(testset="lab", lp="en-de", human=human, numbering="document")
        assert load([folder / name], folder / "w.duckdb", given=given).faults == []
    return folder / "w.duckdb"


@pytest.mark.slow
def test_whole_documents_are_one_unit_and_an_unlike_sample_is_told(documents: Path) -> None:
    with Warehouse.open(documents) as warehouse:
        found = metaeval.means(warehouse, "lab", "en-de", assisted_by="Liker")
    assert "sampled:document" in found.signature
    assert found.notes[0].startswith("the judged segments do not look like a random sample: by Liker")
    assert "better than all segments" in found.notes[0]
    assert found.frame["n_judged"].to_list() == [36, 36]


def test_systems_with_few_errors_are_named_as_their_intervals_are_too_short(tmp_path: Path) -> None:
    """A has 14 judged segments other than 0, B 15."""
    people = [
        f"{system},{n},{-1 - n if n < least else 0}\n" for system, least in (("A", 14), ("B", 15)) for n in range(30)
    ]
    rng = np.random.default_rng(9)
    metric = [f"{system},{n},{rng.random()}\n" for system in "AB" for n in range(60)]
    for name, rows, human in (("metric", metric, None), ("people", people, "score")):
        column = "score" if human else "Metric1"
        (tmp_path / f"{name}.csv").write_text(f"system,segment,{column}\n" + "".join(rows))
        given = LoadHints(testset="lab", lp="en-de", human=human, first_segment=0)
        load([tmp_path / f"{name}.csv"], tmp_path / "w.duckdb", given=given)
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        means = metaeval.means(warehouse, "lab", "en-de", assisted_by="Metric1").notes
        pairs = metaeval.systems(warehouse, "lab", "en-de", assisted_by="Metric1").notes
    (note,) = [note for note in means if "too short" in note]
    assert note.startswith("intervals of 1 system may be too short: fewer than 15 of the judged segments")
    assert note.endswith(": A")
    assert any("intervals of 1 pair may be too short" in note for note in pairs)
