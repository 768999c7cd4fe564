"""Error spans of language models and of a second annotator against those of the first."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import metaeval
from tests.cli.odd_warehouses import odd_warehouse
from tests.cli.running import Scorehouse
from tests.helpers import beside_data, tiny_layout, tiny_warehouse, together
from tests.sharing import made_once
from warehouse import LoadHints, QuestionError, Warehouse, load
from warehouse.export.mtme import RatingTable

HEADER = "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\thypothesis_segment\tmethod"
HEADER += "\tstart_indices\tend_indices\terror_types\n"
SYSTEMS = ("A", "B", "C")
NO_ERROR = "-1\t-1\tno-error"
GIVEN = LoadHints(testset="marks")


def written(folder: Path, method: str, spans: dict[tuple[str, str, int], str]) -> None:
    """A file of one scorer. spans: by language, system and segment; none: no error."""
    rows = [
        f"d\t{segment}\ten\t{target}\tofficial\t{system}\tsome text of it\t{method}\t{cells or NO_ERROR}\n"
        for (target, system, segment), cells in spans.items()
    ]
    (folder / f"{method}.tsv").write_text(HEADER + "".join(rows))


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Two language pairs; the second annotator judges only the first. One error of four characters in each output."""
    folder = tmp_path_factory.mktemp("marks")
    places = [(lp, system, segment) for lp in ("cs", "de") for system in SYSTEMS for segment in (1, 2)]
    written(folder, "human-0", dict.fromkeys(places, "0\t4\tminor"))
    written(folder, "human-1", {place: "2\t6\tminor" for place in places if place[0] == "cs"})
    written(folder, "model", {place: "0\t4\tminor" if place[0] == "de" else "" for place in places})
    report = load([folder], folder / "marks.duckdb", given=GIVEN)
    assert report.is_clean, report.faults
    with Warehouse.open(folder / "marks.duckdb") as warehouse:
        yield warehouse


def test_the_method_that_a_file_names_is_a_human_score_or_a_metric(marks: Warehouse) -> None:
    assert marks.rows("SELECT DISTINCT human FROM humans ORDER BY ALL") == [("human-0",), ("human-1",)]
    assert marks.rows("SELECT DISTINCT metric FROM metrics") == [("model-src",)]


def test_a_file_of_two_methods_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "model", {("cs", "A", 1): ""})
    path = tmp_path / "model.tsv"
    path.write_text(path.read_text() + path.read_text().splitlines()[1].replace("model", "other") + "\n")
    (fault,) = load([tmp_path], tmp_path / "x.duckdb", given=GIVEN).faults
    assert "model, as in the first row" in str(fault)


def test_other_annotators_have_rows_as_if_they_were_metrics(marks: Warehouse) -> None:
    frame = metaeval.spans(marks, "marks", "en-cs", human="human-0", ceiling=True).frame
    assert frame.select("metric", "f", "n_outputs").rows() == [("human-1", 0.5, 6), ("model-src", 0.0, 6)]


def test_pooled_outputs_are_those_of_all_language_pairs(marks: Warehouse) -> None:
    answer = metaeval.spans(marks, "marks", human="human-0", ceiling=True, pool=True)
    assert answer.frame.select("metric", "precision", "recall", "n_outputs").rows() == [
        ("model-src", 1.0, 0.5, 12),
        ("human-1", 0.5, 0.5, 6),
    ]
    assert "on the 6 outputs that human-1 judged: model-src F 0.000, human-1 F 0.500" in answer.notes
    assert "marks en-de: no other human score has marked errors" in answer.notes


def test_scores_without_errors_of_their_own_have_no_row(tmp_path: Path) -> None:
    """mqm and esa have the errors of other scores of their protocols, and are no annotators beside these."""
    with Warehouse.open(odd_warehouse("several_markers", tmp_path)) as warehouse:
        found = {
            human: metaeval.spans(warehouse, "tiny24", "en-de", human=human, ceiling=True)
            for human in ("mqm", "mqm-1", "mqm-2")
        }
    rows = {human: sorted(one.frame.select("metric", "n_outputs").rows()) for human, one in found.items()}
    of_mqm_2 = [("esa", 20), ("mqm-1", 15)]  # which has most errors of its protocol
    assert rows == {"mqm": of_mqm_2, "mqm-1": [("mqm-2", 15)], "mqm-2": of_mqm_2}
    assert "esa has no row: mqm-1 and esa of tiny24 en-de judged no (system, segment) pair both" in found["mqm-1"].notes
    assert found["mqm-2"].summary == (
        "esa and mqm-1 find the marked error spans best of 2 human scores by mpp (F 1.000), each on its own outputs; "
        "differences were not tested."
    )


def test_errors_are_those_of_the_same_ratings(tmp_path: Path) -> None:
    """The errors of mqm are those of mqm.merged, made of the same ratings, although the name mqm-1 comes first."""
    error = {"start": 0, "end": 3, "category": "style", "severity": "Minor", "score": 1.0, "is_source_error": False}
    ratings = {
        name: RatingTable({"Ash": [[error]] * 5, **dict.fromkeys(("Beech", "Cherry"), [[]] * 5)})
        for name in ("mqm-1", "mqm.merged")
    }
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", ratings=ratings)) as warehouse:
        found = metaeval.spans(warehouse, "tiny24", "en-de", ceiling=True)
    assert found.frame["metric"].to_list() == ["mqm-1"]
    assert "errors are those marked for mqm.merged; mqm has none" in found.notes


def test_without_predicted_spans_the_error_names_what_can_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Warehouse.open(odd_warehouse("several_markers", tmp_path)) as warehouse:
        with pytest.raises(QuestionError, match=r"predicts error spans \(ceiling=True has the other human scores"):
            metaeval.spans(warehouse, "tiny24", "en-de")
        with pytest.raises(QuestionError, match="predicts error spans, and esa has no row: esa judged nothing in this"):
            metaeval.spans(warehouse, "tiny24", "en-de", human="mqm-1", ceiling=True, segments="1-2")
    error = {"start": 0, "end": 3, "category": "style", "severity": "Minor", "score": 1.0, "is_source_error": False}
    alone = {"mqm": RatingTable({system: [[error]] * 5 for system in ("Ash", "Beech", "Cherry")})}
    with tiny_warehouse(tmp_path, tiny_layout(tmp_path / "in", humans={}, ratings=alone)) as warehouse:
        reason = "no metric of tiny24 en-de predicts error spans, and no other human score has marked errors"
        with pytest.raises(QuestionError) as refused:
            metaeval.spans(warehouse, "tiny24", "en-de", ceiling=True)
        assert str(refused.value) == reason
        monkeypatch.setattr("metaeval.studies.people.span_tables.annotators", lambda *_: None)  # as if two had judged
        for human, more in ((None, ""), ("mqm", "human='mqm' ")):
            with pytest.raises(QuestionError) as refused:
                metaeval.spans(warehouse, "tiny24", "en-de", human=human, ceiling=True)
            line = f"`scorehouse annotators tiny24 en-de {more}view='pairs'`"
            assert str(refused.value) == f"{reason} ({line} compares annotators of mqm who judged the same outputs)"


@together("options", [{"pool": True, "by": "domain"}, {"view": "outputs", "ceiling": True}])
def test_what_goes_with_neither_is_refused(marks: Warehouse, options: dict[str, object]) -> None:
    with pytest.raises(QuestionError):
        metaeval.spans(marks, "marks", human="human-0", **options)


# The published files.

_MEASURES = {"MPP": "mpp", "MP": "mp", "EM": "em", "WMT25": "char_f1"}


@pytest.fixture(scope="session")
def annotators(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = beside_data("more", "span-annotators")

    def make(folder: Path) -> None:
        assert load([data], folder / "scores.duckdb", given=LoadHints(testset="wmt24.spans")).is_clean

    return made_once(tmp_path_factory, "span-annotators", make) / "scores.duckdb"


@pytest.mark.slow
def test_agreement_is_that_of_the_published_program(annotators: Path) -> None:
    path = beside_data("expected", "span-annotators", "expected.tsv")
    expected = list(csv.DictReader(path.read_text().splitlines(), delimiter="\t"))
    n = 0
    with Warehouse.open(annotators) as warehouse:
        for measure, options, lp in dict.fromkeys((row["measure"], row["options"], row["lp"]) for row in expected):
            given = json.loads(options)
            said = [f"{name}={given[name]}" for name in ("severity_penalty",) if name in given and measure != "WMT25"]
            said += ["average=macro"] if given.get("averaging") == "macro" else []
            name = _MEASURES[measure] + (f"({', '.join(said)})" if said else "")
            pool = {"pool": True} if lp == "all" else {}
            frame = metaeval.spans(warehouse, "wmt24.spans", lp, measure=name, ceiling=True, **pool).frame
            for row in expected:
                if (row["measure"], row["options"], row["lp"]) == (measure, options, lp):
                    found = frame.filter(frame["metric"].str.strip_suffix("-src") == row["predicted"]).row(
                        0, named=True
                    )
                    values = [float(row[column]) for column in ("precision", "recall", "f")]
                    assert [found[column] for column in ("precision", "recall", "f")] == pytest.approx(values, abs=1e-9)
                    assert found["n_outputs"] == int(row["outputs"])
                    assert round(found["predicted"] * found["n_outputs"]) == int(row["spans_predicted"])
                    assert round(found["marked"] * found["n_outputs"]) == int(row["spans_gold"])
                    n += 1
    assert n == len(expected) == 324


@pytest.mark.slow
def test_a_model_agrees_with_the_annotator_better_than_a_second_annotator_does(
    scorehouse: Scorehouse, annotators: Path
) -> None:
    rows = scorehouse("--db", annotators, "paper", "kasner-2025", "agreement", "--format", "json").json
    found = {(row["row"], row["column"], row["lp"]): row["value"] for row in rows}
    assert f"{found['zeroshot-claude-3-7-sonnet', 'f', 'all']:.3f}" == "0.242"
    assert f"{found['human-1', 'f', 'all']:.3f}" == "0.142"
