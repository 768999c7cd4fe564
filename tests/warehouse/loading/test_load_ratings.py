"""Ratings of Appraise's campaigns: errors without weights, or beside scores that are no sums of penalties."""

import json
import statistics
from pathlib import Path

import pytest

from tests.helpers import real_data
from tests.warehouse.building import ask
from warehouse import Warehouse, load

BARE = [{"start": 2, "end": 4, "severity": "minor"}, {"start": "missing", "end": "missing", "severity": "major"}]
WEIGHED = [{"start": 2, "end": 5, "severity": "minor", "score": 1, "category": ["Accuracy", "Omission"]}]


@pytest.mark.slow
def test_a_judgement_has_the_score_beside_it_where_that_is_no_penalty(tmp_path: Path) -> None:
    """Errors without weights need scores beside them."""
    for testset, errors, score in (("t1", BARE, 70), ("t2", WEIGHED, 71), ("t3", BARE, None)):
        folder = tmp_path / "in" / testset
        for name in ("documents", "human-scores"):
            (folder / name).mkdir(parents=True)
        (folder / "documents" / "en-de.docs").write_text("news\ta\nnews\ta\n")
        rating = f"A\t{json.dumps({'errors': errors})}\tu\nA\tNone\n"
        (folder / "human-scores" / "en-de.esa.seg.rating").write_text(rating)
        if score:
            (folder / "human-scores" / "en-de.esa.seg.score").write_text(f"A\t{score}\nA\tNone\n")
    (fault,) = load([tmp_path / "in"], tmp_path / "w.duckdb").faults
    assert "/t3/" in fault.path
    assert "errors without weights" in fault.found
    assert ".seg.score" in fault.expected
    assert ask(tmp_path / "w.duckdb", "SELECT rater, value FROM judgement ORDER BY ALL") == [("u", 70.0), ("u", 71.0)]
    query = "SELECT testset, category, severity, span_start, span_end FROM spans ORDER BY testset, span_start"
    assert ask(tmp_path / "w.duckdb", query) == [
        ("t1", None, "minor", 2, 5),
        ("t1", "missing", "major", None, None),
        ("t2", "Accuracy/Omission", "minor", 2, 5),
    ]


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
