"""The organisers' folder layout, as it is written."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from warehouse.export.mtme import RatingTable, ScoreTable, write_evalset, write_facts
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts, declared_facts

DOCUMENTS = [("news", "d1"), ("news", "d1"), ("speech", "d2")]


def columns(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_every_kind_of_file_is_written_with_its_lines(tmp_path: Path) -> None:
    human = ScoreTable(
        systems=["B", "A"],
        seg=np.array([[-1.0, np.nan, -0.1], [0.0, -25.0, -5.2]]),
        sys=np.array([-0.55, np.nan]),
        domain={"news": np.array([-1.0, -12.5]), "speech": np.array([-0.1, -5.2])},
    )
    metric = ScoreTable(systems=["A"], seg=np.array([[0.5, 1e-7, 1.0]]), doc=np.array([[0.25, 1.0]]))
    error = {"start": 0, "end": 3, "category": "style/odd", "severity": "minor", "score": 1}
    written = write_evalset(
        tmp_path,
        "en-de",
        documents=DOCUMENTS,
        sources=["one", "two", 'a "quoted\tthree'],
        references={"refA": ["eins", "zwei", "drei"]},
        outputs={"A": ["a", "", "ß"]},
        humans={"mqm": human},
        metrics={"X-QE-src": metric},
        ratings={"mqm": RatingTable({"A": [[error], [], None]})},
    )
    found = {path.relative_to(tmp_path).as_posix(): path.read_bytes().decode() for path in written}
    assert found == {
        "documents/en-de.docs": "news\td1\nnews\td1\nspeech\td2\n",
        "sources/en-de.txt": 'one\ntwo\na "quoted\tthree\n',
        "references/en-de.refA.txt": "eins\nzwei\ndrei\n",
        "system-outputs/en-de/A.txt": "a\n\nß\n",
        "human-scores/en-de.mqm.seg.score": "B\t-1.0\nB\tNone\nB\t-0.1\nA\t0.0\nA\t-25.0\nA\t-5.2\n",
        "human-scores/en-de.mqm.sys.score": "B\t-0.55\nA\tNone\n",
        "human-scores/en-de.mqm.domain.score": ("news\tB\t-1.0\nnews\tA\t-12.5\nspeech\tB\t-0.1\nspeech\tA\t-5.2\n"),
        "human-scores/en-de.mqm.seg.rating": (
            'A\t{"errors": [{"start": 0, "end": 3, "category": "style/odd", '
            '"severity": "minor", "score": 1}]}\n'
            'A\t{"errors": []}\nA\tNone\n'
        ),
        "metric-scores/en-de/X-QE-src.seg.score": "A\t0.5\nA\t1e-07\nA\t1.0\n",
        "metric-scores/en-de/X-QE-src.doc.score": "A\t0.25\nA\t1.0\n",
    }
    on_disk = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert on_disk == set(found)


def test_raters_are_the_third_column_of_a_rating_file(tmp_path: Path) -> None:
    table = RatingTable({"A": [[], None, []]}, raters={"A": ["rater1", None, "rater2"]})
    write_evalset(tmp_path, "en-de", documents=DOCUMENTS, ratings={"mqm": table})
    rows = columns(tmp_path / "human-scores" / "en-de.mqm.seg.rating")
    assert rows == [["A", '{"errors": []}', "rater1"], ["A", "None", "None"], ["A", '{"errors": []}', "rater2"]]


def test_an_error_with_letters_beyond_ascii_reads_back(tmp_path: Path) -> None:
    error = {"category": "größe\t\n"}
    write_evalset(tmp_path, "en-de", documents=DOCUMENTS, ratings={"mqm": RatingTable({"A": [[error], [], []]})})
    [first, *rest] = columns(tmp_path / "human-scores" / "en-de.mqm.seg.rating")
    assert json.loads(first[1]) == {"errors": [error]}
    assert len(rest) == 2


@given(hnp.arrays(np.float64, (2, 3), elements=st.floats(allow_infinity=False)))
def test_every_double_reads_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, values: np.ndarray) -> None:
    folder = tmp_path_factory.mktemp("evalset")
    table = ScoreTable(systems=["A", "B"], seg=values, sys=values[:, 0])
    write_evalset(folder, "en-de", documents=DOCUMENTS, metrics={"X-src": table})
    for level, written in (("seg", values), ("sys", values[:, :1])):
        rows = columns(folder / "metric-scores" / "en-de" / f"X-src.{level}.score")
        read = np.array([np.nan if value == "None" else float(value) for _, value in rows])
        assert read.reshape(written.shape).tobytes() == np.where(np.isnan(written), np.nan, written).tobytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"documents": []}, "no segments"),
        ({"documents": [("n", "a"), ("n", "b"), ("n", "a")]}, "'a' begins again at line 3"),
        ({"documents": [("n", "a"), ("m", "a")]}, "'a' begins again at line 2, in domain 'm'"),
        ({"documents": [("n", "a\tb")]}, "does not fit in one column"),
        ({"sources": ["one", "two"]}, r"sources/en-de.txt: 2 texts, expected 3"),
        ({"outputs": {"../A": ["one", "two", "three"]}}, "can't be part of a file's name"),
        ({"metrics": {"X-src": ScoreTable(["A"], seg=np.zeros((1, 2)))}}, r"\(1, 2\), expected \(1, 3\)"),
        ({"metrics": {"X-src": ScoreTable(["A"], doc=np.zeros((1, 3)))}}, r"\(1, 3\), expected \(1, 2\)"),
        ({"metrics": {"X-src": ScoreTable(["A"], sys=np.array([np.inf]))}}, "an infinite value"),
        ({"metrics": {"X-src": ScoreTable(["A"], domain={"chat": np.zeros(1)})}}, "unknown domain 'chat'"),
        ({"metrics": {"X-src": ScoreTable([""], sys=np.zeros(1))}}, "does not fit in one column"),
        ({"ratings": {"mqm": RatingTable({"A": [[], []]})}}, "system 'A' has 2 ratings, expected 3"),
    ],
)
def test_what_does_not_fit_the_layout_is_refused_before_anything_is_written(
    tmp_path: Path, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        write_evalset(tmp_path, "en-de", **({"documents": DOCUMENTS} | arguments))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_texts_with_line_breaks_are_lines_of_json(tmp_path: Path) -> None:
    outputs = {"A": ["one", "zwei\nZeilen „ü“", "three"], "B": ["1", "2", "3"]}
    write_evalset(tmp_path, "en-de", documents=DOCUMENTS, outputs=outputs)
    folder = tmp_path / "system-outputs" / "en-de"
    assert sorted(path.name for path in folder.iterdir()) == ["A.jsonl", "B.txt"]
    assert columns(folder / "A.jsonl") == [
        ['{"hypothesis": "one"}'],
        [r'{"hypothesis": "zwei\nZeilen „ü“"}'],
        ['{"hypothesis": "three"}'],
    ]


def test_facts_of_a_test_set_read_back_as_they_were(tmp_path: Path) -> None:
    evalset = EvalsetFacts(
        standard_reference="refB",
        standard_human={"sys": "mqm", "seg": "mqm.merged"},
        outlier_systems=frozenset({'Odd "name"', "Größe\\"}),
        ranks_human_references=True,
        extra_primary=frozenset({"X"}),
    )
    declared = TestsetFacts(
        "mine.v1",
        2024,
        "Two\nlines",
        frozenset({"A", "B"}),
        frozenset({"B"}),
        {"en-de": evalset, "en-sr_Cyrl_RS": evalset},
    )
    write_facts(tmp_path, declared)
    assert declared_facts("mine.v1", tmp_path) == declared
    write_facts(tmp_path, TestsetFacts("mine.v1"))
    assert declared_facts("mine.v1", tmp_path) == TestsetFacts("mine.v1")
