"""Several annotators of an output: may a metric replace one, and what would more segments or annotators add?"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metaeval
from metaeval.kernels.agreement.alternative_annotator import alternative_annotator_test
from metaeval.kernels.agreement.variance_components import variance_components
from warehouse import QuestionError, Warehouse, load
from warehouse.readers.claims import LoadHints

RATERS, SYSTEMS, N = ("ann", "bea", "cid"), ("A", "B", "C", "D"), 24


@pytest.fixture(scope="module")
def judged() -> dict[tuple[str, str, int], int]:
    """Scores from 0 to 4 of all outputs; segment 1 lacks cid's judgement of A."""
    rng = np.random.default_rng(5)
    quality = {(system, segment): rng.integers(0, 4) for system in SYSTEMS for segment in range(1, N + 1)}
    found = {
        (rater, system, segment): int(value + rng.integers(0, 2))
        for rater in RATERS
        for (system, segment), value in quality.items()
    }
    del found["cid", "A", 1]
    return found


@pytest.fixture(scope="module")
def lab(judged: dict[tuple[str, str, int], int], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    rows = [f"{system},{segment},{rater},{score}\n" for (rater, system, segment), score in judged.items()]
    (folder / "people.csv").write_text("system,segment,annotator,score\n" + "".join(rows))
    means = {
        (system, segment): np.mean([judged[rater, system, segment] for rater in RATERS[:2]])
        for system, segment in itertools.product(SYSTEMS, range(1, N + 1))
    }
    rows = [
        f"{system},{segment},{value},{(7 * segment + 3 * ord(system)) % 11}\n"
        for (system, segment), value in means.items()
    ]
    (folder / "metrics.csv").write_text("system,segment,Good,Bad\n" + "".join(rows))
    database = folder / "w.duckdb"
    load([folder / "people.csv"], database, given=LoadHints(testset="lab", lp="en-de", human="score"))
    load([folder / "metrics.csv"], database, given=LoadHints(testset="lab", lp="en-de"))
    return database


def naive_answers(judged: dict[tuple[str, str, int], int]) -> np.ndarray:
    """(annotators, items): items of two systems and a segment, in the order of pairs, that two annotators judged."""
    items = []
    for a, b in itertools.combinations(SYSTEMS, 2):
        for segment in range(1, N + 1):
            given = [
                np.sign(judged[rater, a, segment] - judged[rater, b, segment])
                if {(rater, a, segment), (rater, b, segment)} <= judged.keys()
                else np.nan
                for rater in RATERS
            ]
            if np.isfinite(given).sum() >= 2:
                items.append(given)
    return np.array(items, dtype=float).T


@pytest.mark.slow
def test_annotators_agree_as_often_as_a_plain_loop_counts(lab: Path, judged: dict[tuple[str, str, int], int]) -> None:
    answers = naive_answers(judged)
    expected = {}
    for row, rater in enumerate(RATERS):
        shares = []
        for item in answers.T:
            others = [value for place, value in enumerate(item) if place != row and np.isfinite(value)]
            if np.isfinite(item[row]) and others:
                shares.append(np.mean([value == item[row] for value in others]))
        expected[rater] = np.mean(shares)
    with Warehouse.open(lab) as warehouse:
        frame = metaeval.annotators(warehouse, "lab", "en-de", view="replace").frame
    people = frame.filter(kind="annotator")
    assert dict(people.select("name", "agreement").rows()) == pytest.approx(expected)
    assert dict(people.select("name", "n_items").rows()) == {"ann": 144, "bea": 144, "cid": 141}


def test_a_metric_is_tested_against_each_annotator_with_the_threshold_of_the_other_half(
    lab: Path, judged: dict[tuple[str, str, int], int]
) -> None:
    """Good is the mean of two annotators: at threshold 0 it ties where they cancel out, and no other is better."""
    with Warehouse.open(lab) as warehouse:
        whole = metaeval.annotators(warehouse, "lab", "en-de", view="replace", epsilon=0.1).frame
        each = metaeval.annotators(warehouse, "lab", "en-de", view="replace", epsilon=0.1, metric="Good").frame
    good, bad = (whole.filter(name=name).row(0, named=True) for name in ("Good-ref", "Bad-ref"))
    assert good["agreement"] > 0.6 > bad["agreement"]
    assert bad["winning_rate"] == 0
    assert good["n_beaten"] == each["is_beaten"].sum()
    assert good["winning_rate"] == good["n_beaten"] / good["n_tested"]
    assert good["advantage"] == pytest.approx(each["advantage"].mean())
    answers = naive_answers(judged)
    always_tie = alternative_annotator_test(answers, np.zeros(answers.shape[1]), epsilon=0.1)
    assert bad["advantage"] <= good["advantage"]
    assert always_tie.n_items.tolist() == [144, 144, 141]


def test_items_of_one_document_may_count_as_dependent(lab: Path) -> None:
    """Without documents each segment is one: its six pairs of systems are dependent, and p grows."""
    with Warehouse.open(lab) as warehouse:
        plain, clustered = (
            metaeval.annotators(warehouse, "lab", "en-de", view="replace", metric="Bad-ref", by_document=by).frame.sort(
                "annotator"
            )
            for by in (False, True)
        )
    assert plain["advantage"].to_list() == clustered["advantage"].to_list()
    assert plain["p"].to_list() != clustered["p"].to_list()


@pytest.mark.parametrize(
    "changed", [{"metric": "Good"}, {"epsilon": 0.1}, {"by_document": True}, {"rule": "clustered"}]
)
def test_the_signature_says_how_metrics_were_tested(lab: Path, changed: dict[str, Any]) -> None:
    with Warehouse.open(lab) as warehouse:
        before = metaeval.annotators(warehouse, "lab", "en-de", view="replace")
        after = metaeval.annotators(warehouse, "lab", "en-de", view="replace", **changed)
    assert before.signature != after.signature


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"view": "replace", "metric": "Godo"}, "unknown metric 'Godo'"),
        ({"metric": "Good-ref"}, "metric"),
        ({"view": "replace", "resamples": 5}, "resamples"),
        ({"view": "replace", "epsilon": 2.0}, "epsilon"),
    ],
)
def test_what_cannot_be_tested_is_refused(lab: Path, options: dict[str, Any], why: str) -> None:
    with Warehouse.open(lab) as warehouse, pytest.raises(QuestionError, match=why):
        metaeval.annotators(warehouse, "lab", "en-de", **options)


@pytest.mark.slow
def test_two_annotators_are_too_few(tmp_path: Path) -> None:
    rows = "".join(f"{system},1,{rater},{n}\n" for n, system in enumerate("AB") for rater in "xy")
    (tmp_path / "two.csv").write_text("system,segment,annotator,score\n" + rows)
    (tmp_path / "metric.csv").write_text("system,segment,M\nA,1,0.5\nB,1,0.7\n")
    database = tmp_path / "two.duckdb"
    for name, human in (("two.csv", "score"), ("metric.csv", None)):
        load([tmp_path / name], database, given=LoadHints(testset="two", lp="en-de", human=human))
    with Warehouse.open(database) as warehouse, pytest.raises(QuestionError, match="it needs 3 annotators"):
        metaeval.annotators(warehouse, "two", "en-de", view="replace")


def test_components_of_variance_are_those_of_the_kernel(lab: Path, judged: dict[tuple[str, str, int], int]) -> None:
    raters, systems, segments = (np.array(column) for column in zip(*judged, strict=True))
    factors = {"system": systems, "segment": segments, "rater": raters}
    terms = ["system", "segment", "system:segment", "segment:rater"]
    expected = variance_components(list(judged.values()), factors, terms)
    with Warehouse.open(lab) as warehouse:
        frame = metaeval.annotators(warehouse, "lab", "en-de", view="variance").frame
        precision = metaeval.annotators(warehouse, "lab", "en-de", view="precision").frame
    assert dict(frame.select("component", "variance").rows()) == pytest.approx(expected.variances, abs=1e-9)
    assert frame["share"].sum() == pytest.approx(1)
    row = precision.filter(n_segments=300, n_raters=2).row(0, named=True)
    both = expected.variances["system:segment"] / 300 + expected.variances["residual"] / 600
    assert row["error"] == pytest.approx((2 * both) ** 0.5)
    assert row["n_judgements"] == 600


@pytest.mark.slow
def test_precision_is_drawn_and_no_other_view(lab: Path) -> None:
    with Warehouse.open(lab) as warehouse:
        answer = metaeval.annotators(warehouse, "lab", "en-de", view="precision")
        rows = answer.chart().to_dict()["datasets"]["precision"]
        assert [row["error"] for row in rows] == answer.frame.sort("n_raters", "n_segments")["error"].to_list()
        with pytest.raises(QuestionError, match="has a chart"):
            metaeval.annotators(warehouse, "lab", "en-de", view="variance").chart()


def _judged_file(folder: Path, rows: list[str]) -> Path:
    (folder / "people.csv").write_text("system,segment,annotator,score\n" + "".join(rows))
    load([folder / "people.csv"], folder / "w.duckdb", given=LoadHints(testset="lab", lp="en-de", human="score"))
    return folder / "w.duckdb"


@pytest.mark.slow
def test_one_judgement_an_output_shows_fewer_components(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [f"{system},{segment},r{segment % 2},{rng.integers(0, 9)}\n" for system in "ABC" for segment in range(1, 30)]
    with Warehouse.open(_judged_file(tmp_path, rows)) as warehouse:
        answer = metaeval.annotators(warehouse, "lab", "en-de", view="variance")
        assert answer.frame["component"].to_list() == ["system", "segment", "residual"]
        assert any("cannot tell system:segment and segment:rater" in note for note in answer.notes)
        with pytest.raises(QuestionError, match="do not show what a second annotator would add"):
            metaeval.annotators(warehouse, "lab", "en-de", view="precision")


@pytest.mark.slow
def test_outputs_with_as_many_annotators_have_an_intraclass_correlation(tmp_path: Path) -> None:
    """Six targets by four judges (Shrout and Fleiss): ICC(1) .17, of the mean of four .44; ICC(2) .29, ICC(3) .71."""
    table = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))
    rows = [
        f"{'AB'[target % 2]},{1 + target // 2},r{judge},{value}\n"
        for target, values in enumerate(table)
        for judge, value in enumerate(values)
    ]
    with Warehouse.open(_judged_file(tmp_path, rows)) as warehouse:
        answer = metaeval.annotators(warehouse, "lab", "en-de", view="variance")
    assert answer.result.facts["icc"].single == pytest.approx(0.1657, abs=5e-5)
    for shown in (("ICC(1): 0.166", "0.443"), ("ICC(2): 0.290", "0.620"), ("ICC(3): 0.715", "0.909")):
        assert any(all(text in note for text in shown) for note in answer.notes)


def test_variance_needs_the_names_of_annotators(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("system,segment,score\nA,1,2\nB,1,3\n")
    load([tmp_path / "people.csv"], tmp_path / "w.duckdb", given=LoadHints(testset="lab", lp="en-de", human="score"))
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse, pytest.raises(QuestionError, match="judgements"):
        metaeval.annotators(warehouse, "lab", "en-de", view="variance")
