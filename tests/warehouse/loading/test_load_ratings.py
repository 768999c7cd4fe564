"""Ratings of Appraise's campaigns: errors without weights, or beside scores that are no sums of penalties."""

import json
import statistics
from pathlib import Path

import pytest

from tests.helpers import real_data
from warehouse import Warehouse, load

BARE = [{"start": 2, "end": 4, "severity": "minor"}, {"start": "missing", "end": "missing", "severity": "major"}]
WEIGHED = [{"start": 2, "end": 5, "severity": "minor", "score": 1, "category": ["Accuracy", "Omission"]}]


def written(root: Path, errors: object, scores: str | None) -> Path:
    folder = root / "wmt23"
    for name in ("documents", "human-scores"):
        (folder / name).mkdir(parents=True)
    (folder / "documents" / "en-de.docs").write_text("news\ta\nnews\ta\n")
    rating = f"A\t{json.dumps({'errors': errors})}\tu\nA\tNone\n"
    (folder / "human-scores" / "en-de.esa.seg.rating").write_text(rating)
    if scores is not None:
        (folder / "human-scores" / "en-de.esa.seg.score").write_text(scores)
    return folder


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (BARE, [(None, "minor", 2, 5), ("missing", "major", None, None)]),
        (WEIGHED, [("Accuracy/Omission", "minor", 2, 5)]),
    ],
)
def test_a_judgement_has_the_score_beside_it_where_that_is_no_penalty(
    tmp_path: Path, errors: object, expected: object
) -> None:
    database = tmp_path / "w.duckdb"
    assert load([written(tmp_path, errors, "A\t70\nA\tNone\n")], database).faults == []
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT rater, value FROM judgement") == [("u", 70.0)]
        found = warehouse.rows("SELECT category, severity, span_start, span_end FROM span ORDER BY span_start")
        assert found == expected


def test_errors_without_weights_need_the_scores_beside_them(tmp_path: Path) -> None:
    (fault,) = load([written(tmp_path, BARE, None)], tmp_path / "w.duckdb").faults
    assert "errors without weights" in fault.found
    assert ".seg.score" in fault.expected


def _scores(path: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in path.read_text().splitlines():
        system, value = line.split("\t")
        if value != "None":
            found.setdefault(system, []).append(float(value))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "lp", "humans"),
    [
        ("esa-wmt23-en-de", "en-de", ("esa-1", "esa-2", "esaai-1", "mqm-1", "esa-iaa")),
        ("human-parity", "en-de", ("mqm-col1", "mqm-col2", "mqm-col3", "mqm-col1_more_data", "mqm-col2_more_data")),
    ],
)
def test_means_of_published_campaigns_follow_from_their_files(
    tmp_path: Path, folder: str, lp: str, humans: tuple[str, ...]
) -> None:
    root = real_data("..", "more", folder, "wmt23")
    database = tmp_path / "w.duckdb"
    assert load([root], database).faults == []
    with Warehouse.open(database) as warehouse:
        for human in humans:
            expected = _scores(root / "human-scores" / f"{lp}.{human}.seg.score")
            system = sorted(expected)[0]
            ((n, mean),) = warehouse.rows(
                "SELECT count(value), avg(value) FROM human_scores WHERE human = $human AND system = $system",
                {"human": human, "system": system},
            )
            assert (n, mean) == (len(expected[system]), pytest.approx(statistics.fmean(expected[system])))
