"""Judges of a user's own table: as good as a second annotator? Runs, versions, corrected shares and biases."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import metaeval
from tests.cli.running import Scorehouse, refused
from warehouse import LoadHints, QuestionError, Warehouse, load

COLUMNS = ("item", "system", "annotator_1", "annotator_2", "good_run1", "good_run2", "bad", "gpt-4o", "n_words")
SYSTEMS = ("gpt-4-turbo", "llama-3", "t5", "alpha")


def rows_of(rng: np.random.Generator, n_items: int) -> list[list[object]]:
    """Judges like the annotators, one at random, and one that likes its own family and long outputs."""
    found: list[list[object]] = []
    for item in range(n_items):
        for at, system in enumerate(SYSTEMS):
            quality = 3 + 0.5 * at + rng.normal()

            def verdict(mean: float, sd: float = 0.4) -> int:
                return int(np.clip(round(mean + rng.normal() * sd), 1, 5))

            words = int(40 + 8 * rng.normal() + 4 * quality)
            liked = quality + (1.5 if at == 0 else 0) + (words - 50) / 10
            judged = [verdict(quality) for _ in range(4)]
            found.append(
                [f"q{item}", system, *judged, int(rng.integers(1, 6)), round(liked + rng.normal() * 0.3, 3), words]
            )
    return found


def written(path: Path, rows: Sequence[Sequence[object]], columns: Sequence[str] = COLUMNS) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("judges") / "verdicts.csv", rows_of(np.random.default_rng(8), 125))


@pytest.fixture(scope="module")
def database(table: Path) -> Path:
    found = table.with_name("verdicts.duckdb")
    assert load([table], found, given=LoadHints(testset="mine", human="quality")).is_clean
    return found


def test_three_commands_tell_whether_a_judge_is_as_good_as_a_second_annotator(
    scorehouse: Scorehouse, table: Path, tmp_path: Path
) -> None:
    database = ("--db", tmp_path / "mine.duckdb")
    assert scorehouse(*database, "load", table, "--testset", "mine", "--human", "quality").code == 0
    answer = scorehouse(*database, "judges", "mine").out
    assert re.match(r"Yes: good-src is as good as a second annotator \(lead [+-]0\.\d+ \[.*\]; accuracy", answer)
    biases = scorehouse(*database, "judges", "mine", "--view", "bias", "--length", "n_words").out
    assert "gpt-4o-src favours its own family (+0.852 SD)" in biases.splitlines()[0]


def test_each_judge_has_its_agreement_beside_annotators_and_a_constant(database: Path, table: Path) -> None:
    with Warehouse.open(database) as warehouse:
        frame = metaeval.judges(warehouse, "mine").frame
    by_name = {row["scorer"]: row for row in frame.iter_rows(named=True)}
    assert {name: row["kind"] for name, row in by_name.items()} == {
        **dict.fromkeys(("good-src", "bad-src", "gpt-4o-src", "n_words-src"), "judge"),
        **dict.fromkeys(("annotator_1", "annotator_2"), "annotator"),
        next(name for name in by_name if name.startswith("always")): "constant",
    }
    rows = np.array([row[2:] for row in csv.reader(table.read_text().splitlines())][1:], dtype=np.float64)
    same = float((rows[:, 0] == rows[:, 1]).mean())
    assert by_name["annotator_1"]["accuracy"] == pytest.approx(same)
    assert (by_name["n_words-src"]["accuracy"], by_name["n_words-src"]["verdict"]) == (None, None)
    bad = float((rows[:, [4]] == rows[:, :2]).mean())
    assert by_name["bad-src"]["accuracy"] == pytest.approx(bad)
    assert by_name["bad-src"]["lead"] == pytest.approx(bad - same)
    assert (by_name["bad-src"]["verdict"], by_name["good-src"]["verdict"]) == ("worse", "as good")
    values, n = np.unique(rows[:, :2], return_counts=True)
    assert by_name[f"always {values[n.argmax()]:g}"]["accuracy"] == pytest.approx(n.max() / n.sum())
    assert by_name["good-src"]["n_outputs"] == 500


def test_runs_are_compared_with_their_mean_and_with_the_next_metric(database: Path, table: Path) -> None:
    rows = np.array([row[2:] for row in csv.reader(table.read_text().splitlines())][1:], dtype=np.float64)
    human = rows[:, :2].mean(axis=1)
    single = [np.corrcoef(human, rows[:, at])[0, 1] for at in (2, 3)]
    with Warehouse.open(database) as warehouse:
        row = metaeval.judges(warehouse, "mine", view="runs").frame.row(0, named=True)
        metrics = [name for (name,) in warehouse.rows("SELECT DISTINCT base_metric FROM metrics ORDER BY ALL")]
    assert (row["metric"], row["n_runs"]) == ("good", 2)
    assert row["value"] == pytest.approx(np.corrcoef(human, rows[:, 2:4].mean(axis=1))[0, 1])
    assert row["run_mean"] == pytest.approx(np.mean(single))
    assert row["run_sd"] == pytest.approx(np.std(single, ddof=1))
    assert row["output_sd"] == pytest.approx(np.sqrt(((rows[:, 2] - rows[:, 3]) ** 2 / 2).mean()))
    assert row["runs_apart"] == pytest.approx(row["run_sd"] / row["distance"])
    assert metrics == ["bad", "good", "good@1", "good@2", "gpt-4o", "n_words"]


def test_shares_are_those_of_the_formula(database: Path, table: Path) -> None:
    rows = np.array([row[2:] for row in csv.reader(table.read_text().splitlines())][1:], dtype=np.float64)
    human, judge = rows[:, :2].mean(axis=1) >= 4, rows[:, 2:4].mean(axis=1) >= 4
    sensitivity, specificity = judge[human].mean(), (~judge)[~human].mean()
    first = np.arange(len(rows)) % len(SYSTEMS) == SYSTEMS.index("t5")
    with Warehouse.open(database) as warehouse:
        frame = metaeval.judges(warehouse, "mine", view="shares", good=4).frame
    row = frame.filter(metric="good-src", system="t5").row(0, named=True)
    assert row["judged"] == pytest.approx(judge[first].mean())
    assert row["corrected"] == pytest.approx((judge[first].mean() + specificity - 1) / (sensitivity + specificity - 1))
    assert row["human"] == pytest.approx(human[first].mean())


def test_versions_drift(tmp_path: Path) -> None:
    rows = [
        [f"q{n}", s, "J", v, score]
        for n in range(20)
        for s in "AB"
        for v, score in (("v1", n % 3 + 1), ("v2", n % 3 + 2))
    ]
    written(tmp_path / "x.csv", rows, ("item", "system", "judge", "prompt_version", "score"))
    people = [[f"q{n}", s, "quality", n % 3 + 1] for n in range(20) for s in "AB"]
    written(tmp_path / "y.csv", people, ("item", "system", "human", "score"))
    assert load([tmp_path], tmp_path / "x.duckdb", given=LoadHints(testset="mine")).is_clean
    with Warehouse.open(tmp_path / "x.duckdb") as warehouse:
        (row,) = metaeval.judges(warehouse, "mine", view="drift").frame.rows(named=True)
    assert (row["version_a"], row["version_b"], row["change"], row["n_outputs"]) == ("J:v1", "J:v2", 1.0, 40)
    assert row["r"] == pytest.approx(1.0)


def test_runs_may_stand_in_a_column(tmp_path: Path) -> None:
    rows = [[n, "A", "J", run, n + run] for n in (1, 2, 3) for run in (1, 2)]
    written(tmp_path / "x.csv", rows, ("segment", "system", "judge", "run", "score"))
    assert load([tmp_path], tmp_path / "x.duckdb", given=LoadHints(testset="mine")).is_clean
    with Warehouse.open(tmp_path / "x.duckdb") as warehouse:
        found = warehouse.rows("SELECT base_metric, avg(value) FROM scores GROUP BY ALL ORDER BY ALL")
    assert found == [("J", 3.5), ("J@1", 3.0), ("J@2", 4.0)]


def test_what_there_is_not_is_said(scorehouse: Scorehouse, database: Path) -> None:
    ask = ("--db", database, "judges", "mine", "--view")
    refused(scorehouse(*ask, "shares"), 2, "--view shares needs --good")
    refused(scorehouse(*ask, "drift"), 2, "no two versions of a judge")
    refused(scorehouse(*ask, "bias", "--length", "none"), 2, "unknown metric 'none'")
    refused(scorehouse(*ask, "agreement", "--good", "3"), 2, "--good")
    with Warehouse.open(database) as warehouse, pytest.raises(QuestionError, match="no judge of mine has several runs"):
        metaeval.judges(warehouse, "mine", view="runs", metrics=["bad-src", "gpt-4o-src"])


def test_verdicts_may_be_words(tmp_path: Path) -> None:
    rows = [["q1", "A", "yes", "Yes", "no"], ["q1", "B", "no", "yes", "no"], ["q2", "A", "yes", "", "yes"]]
    written(tmp_path / "x.csv", rows, ("item", "system", "annotator_1", "annotator_2", "J"))
    assert load([tmp_path], tmp_path / "x.duckdb", given=LoadHints(testset="mine", human="right")).is_clean
    with Warehouse.open(tmp_path / "x.duckdb") as warehouse:
        people = warehouse.rows("SELECT system, document, value FROM human_scores ORDER BY ALL")
        judged = warehouse.rows("SELECT system, document, value FROM scores ORDER BY ALL")
    assert people == [("A", "q1", 1.0), ("A", "q2", 1.0), ("B", "q1", 0.5)]
    assert judged == [("A", "q1", 0.0), ("A", "q2", 1.0), ("B", "q1", 0.0)]
