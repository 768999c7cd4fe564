"""One segment to read: its texts, and the scores that stand beside them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from queries.segment import Segment, outputs_of, read_segment
from tests.helpers import DOCUMENTS, LP, TESTSET, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse
from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """The tiny task."""
    with tiny_warehouse(tmp_path_factory.mktemp("tiny")) as opened:
        yield opened


def _names(found: Segment) -> list[tuple[str, str | None]]:
    return [(text.kind, text.name) for text in found.texts]


def test_a_segment_has_its_source_its_references_and_the_outputs_best_first(warehouse: Warehouse) -> None:
    found = read_segment(warehouse, TESTSET, LP, 3)
    assert found.place == "tiny24 en-de, segment 3, document n2 (1), domain news"
    assert [(text.kind, text.name, text.text, dict(text.scores)) for text in found.texts] == [
        ("source", None, "source 3", {}),
        ("reference", "refA", "refA 3", {"mqm": -1.0}),
        ("output", "Ash", "Ash 3", {"mqm": -5.0}),
        ("output", "Beech", "Beech 3", {"mqm": -6.0}),
        ("output", "Cherry", "Cherry 3", {"mqm": -11.0}),
    ]


def test_scores_of_chosen_metrics_stand_beside_the_texts_and_what_is_missing_is_none(warehouse: Warehouse) -> None:
    found = read_segment(warehouse, TESTSET, LP, 4, metrics=["Rough-*", "Fine-src"])
    assert found.scorers == ("mqm", "Fine-src", "Rough-refA")
    assert {text.name: tuple(text.scores.values()) for text in found.texts} == {
        None: (),
        "refA": (None, 1.0, None),
        "Ash": (None, 0.7, 40.0),
        "Beech": (None, 0.6, 50.0),
        "Cherry": (None, 0.3, 20.0),
    }
    assert _names(found)[2:] == [("output", "Ash"), ("output", "Beech"), ("output", "Cherry")]  # nobody judged: by name


def test_a_metric_may_be_named_without_its_reference(warehouse: Warehouse) -> None:
    asked = [["Rough", "Fine"], ["Rough-refA", "Fine-src"]]
    short, full = (read_segment(warehouse, TESTSET, LP, 1, metrics=names) for names in asked)
    assert short == full
    with pytest.raises(QuestionError, match="unknown metric 'Roug'"):
        read_segment(warehouse, TESTSET, LP, 1, metrics=["Roug"])


def test_outputs_can_be_chosen_and_source_and_references_stay(warehouse: Warehouse) -> None:
    found = read_segment(warehouse, TESTSET, LP, 1, systems=["B*", "Cherry"])
    assert _names(found) == [("source", None), ("reference", "refA"), ("output", "Beech"), ("output", "Cherry")]


def test_the_frame_has_a_row_a_text_and_a_column_a_scorer(warehouse: Warehouse) -> None:
    frame = read_segment(warehouse, TESTSET, LP, 2, metrics=["Flat-src"], systems=["Ash"]).frame()
    assert frame.to_dict(as_series=False) == {
        "kind": ["source", "reference", "output"],
        "name": [None, "refA", "Ash"],
        "mqm": [None, 0.0, 0.0],
        "Flat-src": [None, 1.0, 1.0],
        "text": ["source 2", "refA 2", "Ash 2"],
        "errors": [[], [], []],
    }


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"testset": "tiny42"}, "unknown test set 'tiny42'; did you mean 'tiny24'"),
        ({"lp": "de-en"}, "unknown language pair 'de-en' for tiny24"),
        ({"segment": 6}, "unknown segment 6 for tiny24 en-de; segments are numbered 1 to 5"),
        ({"segment": 0}, "unknown segment 0 for tiny24 en-de"),
        ({"humans": ["mqn"]}, "unknown human score 'mqn' for tiny24 en-de; did you mean 'mqm'"),
        ({"metrics": ["Fin-src"]}, "unknown metric 'Fin-src' for tiny24 en-de; did you mean 'Fine-src'"),
        (
            {"metrics": ["Only-src"]},
            "metric 'Only-src' of tiny24 en-de has no segment scores, only system scores",
        ),  # it has no scores of segments
        ({"systems": ["Elm*"]}, r"unknown system 'Elm\*'"),
    ],
)
def test_names_that_there_are_not_are_reported(asked: dict[str, object], words: str, warehouse: Warehouse) -> None:
    with pytest.raises(QuestionError, match=words):
        read_segment(warehouse, **{"testset": TESTSET, "lp": LP, "segment": 1, **asked})  # type: ignore[arg-type]


@pytest.mark.slow
def test_without_texts_or_an_official_human_score_there_are_still_scores(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in", texts=False, facts=False)
    with tiny_warehouse(tmp_path, root) as opened:
        bare = read_segment(opened, TESTSET, LP, 1)
        assert (bare.scorers, bare.texts) == ((), ())
        scored = read_segment(opened, TESTSET, LP, 1, humans=["*"])
    assert [(text.kind, text.name, text.text, text.scores["mqm"]) for text in scored.texts] == [
        *(("reference", "refA", None, 0.0), ("output", "Ash", None, -1.0)),
        *(("output", "Beech", None, -1.0), ("output", "Cherry", None, -10.0)),
    ]


def test_outputs_that_people_and_a_metric_scored_stand_beside_each_other(warehouse: Warehouse) -> None:
    found = outputs_of(warehouse, TESTSET, LP, "Flat-src")
    query = "SELECT system, segment, value FROM {} = $name AND value IS NOT NULL ORDER BY ALL"
    people = {row[:2]: row[2] for row in warehouse.rows(query.format("human_scores WHERE human"), {"name": "mqm"})}
    scores = warehouse.rows(query.format("scores WHERE metric"), {"name": "Flat-src"})
    assert found.rows() == [(*row[:2], people[row[:2]], row[2]) for row in scores if row[:2] in people]
    assert 0 < found.height < len(scores)
    assert outputs_of(warehouse, TESTSET, LP, "Only-src").is_empty()


@pytest.mark.slow
def test_a_set_of_scores_of_systems_alone_has_no_segments(tmp_path: Path) -> None:
    (tmp_path / "M.sys.score").write_text("M\tde-en\tnewstest2020\tref\tAsh\t0.5\n")
    with (
        tiny_warehouse(tmp_path, tmp_path / "M.sys.score") as opened,
        pytest.raises(QuestionError, match="wmt20 de-en has no segments: scores of whole systems or documents alone"),
    ):
        read_segment(opened, "wmt20", "de-en", 1)


@pytest.mark.slow
def test_a_reference_that_also_lies_among_the_outputs_is_shown_once(tmp_path: Path) -> None:
    root = tiny_layout(tmp_path / "in")
    write_evalset(root, LP, documents=DOCUMENTS, outputs={"refA": [f"refA {n}" for n in (1, 2, 3, 4)] + ["another"]})
    with tiny_warehouse(tmp_path, root) as opened:
        assert ("output", "refA") not in _names(read_segment(opened, TESTSET, LP, 4))
        assert ("output", "refA") in _names(read_segment(opened, TESTSET, LP, 5))


@pytest.mark.slow
def test_scorers_with_names_of_columns_or_of_each_other_have_columns_of_their_own(tmp_path: Path) -> None:
    table = ScoreTable(["Ash"], seg=np.arange(5.0).reshape(1, 5))
    other = ScoreTable(["Ash"], seg=10 + np.arange(5.0).reshape(1, 5))
    root = tiny_layout(tmp_path / "in", humans={"text": table, "A-src": table}, metrics={"A-src": other}, facts=False)
    with tiny_warehouse(tmp_path, root) as opened:
        frame = read_segment(opened, TESTSET, LP, 2, humans=["*"], metrics=["*"], systems=["Ash"]).frame()
    assert frame.columns == ["kind", "name", "A-src", "text (score)", "A-src (metric)", "text", "errors"]
    assert frame.row(-1) == ("output", "Ash", 1.0, 1.0, 11.0, "Ash 2", [])


@pytest.mark.slow
def test_outputs_have_the_errors_that_people_marked_for_the_score_or_another_of_its_protocol(tmp_path: Path) -> None:
    error = {"start": 0, "end": 3, "category": "style", "severity": "Minor", "score": 1.0, "is_source_error": False}
    omission = {**error, "start": 0, "end": 6, "category": "omission", "is_source_error": True}
    ratings = RatingTable({"Ash": [[error, omission], *[[]] * 4], "Beech": [[]] * 5, "Cherry": [None] * 5})
    root = tiny_layout(tmp_path / "in", ratings={"mqm.merged": ratings})
    with tiny_warehouse(tmp_path, root) as opened:
        found = read_segment(opened, TESTSET, LP, 1)
        (ash,) = [text for text in found.texts if text.name == "Ash"]
        assert [(one.label, one.start, one.end, one.is_in_source, one.weight) for one in ash.errors] == [
            ("minor style", 0, 3, False, 1.0),
            ("minor omission", 0, 6, True, 1.0),
        ]
        assert found.errors_of == "mqm.merged"
        assert not any(text.errors for text in found.texts if text.name != "Ash")
        assert found.as_json()["texts"][1]["errors"] == []
        assert read_segment(opened, TESTSET, LP, 2).errors_of is None


@pytest.mark.slow
def test_of_several_ratings_of_the_protocol_that_with_most_errors_is_shown(tmp_path: Path) -> None:
    error = {"start": 0, "end": 3, "category": "style", "severity": "Minor", "score": 1.0, "is_source_error": False}
    few = RatingTable({"Ash": [[error], *[[]] * 4], "Beech": [[]] * 5, "Cherry": [None] * 5})
    many = RatingTable({"Ash": [[error], *[[error]] * 4], "Beech": [[]] * 5, "Cherry": [None] * 5})
    root = tiny_layout(tmp_path / "in", ratings={"mqm-1": few, "mqm.merged": many})
    with tiny_warehouse(tmp_path, root) as opened:
        assert read_segment(opened, TESTSET, LP, 1).errors_of == "mqm.merged"
