"""What metrics' own programs write, added as a metric of one's own."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import sharing
from tests.helpers import LP, SYSTEMS, TESTSET, tiny_bytes
from warehouse import SourceError, Warehouse
from warehouse.loading.report import LoadReport
from warehouse.own.scores import add
from warehouse.wording import option

N = 5  # segments of the tiny task
VALUES = {"Ash": (0.1, 0.2, 0.3, 0.4, 0.5), "Beech": (0.5, 0.4, 0.3, 0.2, 0.1)}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return sharing.written(tmp_path / "scores.duckdb", tiny_bytes())


def added(database: Path, path: Path, text: str, **given: Any) -> LoadReport:
    path.write_text(text)
    return add([path], database, "Mine", **({"reference": "refA", "testset": TESTSET, "lp": LP} | given))


def stored(database: Path) -> dict[str, tuple[float, ...]]:
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows("SELECT system, value FROM scores WHERE metric = 'Mine-refA' ORDER BY system, segment")
    return {name: tuple(value for system, value in rows if system == name) for name, _ in rows}


def items(
    system: str, values: Sequence[float], key: str = "COMET", order: Iterable[int] = range(N)
) -> list[dict[str, Any]]:
    """A list as COMET writes it, with the texts of the tiny task."""
    return [
        {"src": f"source {at + 1}", "mt": f"{system} {at + 1}", "ref": f"refA {at + 1}", key: values[at]}
        for at in order
    ]


def document(**more: Any) -> str:
    content = {f"outputs/{LP}.{system}.txt": items(system, values) for system, values in VALUES.items()}
    return json.dumps(content | more, indent=4)


def lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def predictions(system: str, order: Iterable[int] = range(N), **more: Any) -> list[dict[str, Any]]:
    """Lines as MetricX writes them."""
    return [
        {"source": f"source {at + 1}", "hypothesis": f"{system} {at + 1}", "reference": f"refA {at + 1}"}
        | {"prediction": VALUES[system][at]}
        | more
        for at in order
    ]


@pytest.mark.parametrize("text", [document(), json.dumps(json.loads(document()))])
def test_comet_json_brings_each_file_as_the_system_that_it_is_named_after(
    database: Path, tmp_path: Path, text: str
) -> None:
    report = added(database, tmp_path / "comet.json", text)
    assert report.is_clean, report.faults
    assert stored(database) == VALUES


def test_spans_of_xcomet_come_in_beside_its_scores(database: Path, tmp_path: Path) -> None:
    rows = items("Ash", VALUES["Ash"])
    rows[0]["errors"] = [{"text": "Ash", "confidence": 0.5, "severity": "minor", "start": 0, "end": 3}] * 2
    rows[1]["error_spans"] = [{"text": "Ash", "confidence": 0.5, "severity": "minor", "start": 0, "end": 3}]
    report = added(database, tmp_path / "xcomet.json", json.dumps({"hyp.txt": rows}), system="Ash")
    assert report.is_clean, report.faults
    assert f"{tmp_path / 'xcomet.json'}: 3 error spans in 2 outputs" in report.notes
    assert stored(database) == {"Ash": VALUES["Ash"]}


def test_printed_lines_of_comet_bring_segments_and_systems(database: Path, tmp_path: Path) -> None:
    printed = [f"{system}.txt\tSegment {at}\tscore: {VALUES[system][at]:.4f}" for at in range(N) for system in VALUES]
    printed += [f"{system}.txt\tscore: 0.3000" for system in VALUES] + ["Predictions saved in: comet.json."]
    report = added(database, tmp_path / "comet.out", "\n".join(printed) + "\n")
    assert report.is_clean, report.faults
    assert stored(database) == VALUES
    with Warehouse.open(database) as warehouse:
        found = warehouse.rows("SELECT system, value FROM aggregate_scores WHERE scorer = 'Mine-refA' ORDER BY ALL")
    assert found == [("Ash", 0.3), ("Beech", 0.3)]


def test_predictions_of_metricx_are_errors(database: Path, tmp_path: Path) -> None:
    report = added(database, tmp_path / "out.jsonl", lines(predictions("Ash")), system="Ash")
    assert report.is_clean, report.faults
    assert stored(database) == {"Ash": tuple(-value for value in VALUES["Ash"])}
    assert f"{tmp_path / 'out.jsonl'}: prediction counts errors, lower is better: stored negated" in report.notes


@pytest.mark.parametrize("is_numbered", [True, False])
def test_predictions_of_several_systems_have_a_key_that_names_them(
    database: Path, tmp_path: Path, is_numbered: bool
) -> None:
    rows = [row | {"system_id": system} for system in VALUES for row in predictions(system, label=1.0)]
    if is_numbered:
        rows = [row | {"segment_id": at % N + 1} for at, row in enumerate(rows)]
    report = added(database, tmp_path / "out.jsonl", lines(rows))
    assert report.is_clean, report.faults
    assert stored(database) == {system: tuple(-value for value in values) for system, values in VALUES.items()}
    assert any("stored negated" in note for note in report.notes)


def test_predictions_said_to_be_errors_are_negated_once(database: Path, tmp_path: Path) -> None:
    added(database, tmp_path / "out.jsonl", lines(predictions("Ash")), system="Ash", is_error_measure=True)
    assert stored(database) == {"Ash": tuple(-value for value in VALUES["Ash"])}


@pytest.mark.parametrize("is_numbered", [True, False])
def test_predictions_beside_the_scores_of_the_metric_change_no_sign(
    database: Path, tmp_path: Path, is_numbered: bool
) -> None:
    rows = [
        row | {"prediction": 9.0, "Mine": value} | ({"segment_id": at} if is_numbered else {})
        for at, (row, value) in enumerate(zip(predictions("Ash"), VALUES["Ash"], strict=True), start=1)
    ]
    report = added(database, tmp_path / "out.jsonl", lines(rows), system="Ash")
    assert report.is_clean, report.faults
    assert stored(database) == {"Ash": VALUES["Ash"]}


@pytest.mark.parametrize("text", ["{}\n", "score\n{}\n", "[{}]"])
def test_a_list_of_scores_is_in_the_order_of_the_segments(database: Path, tmp_path: Path, text: str) -> None:
    joined = (", " if text.startswith("[") else "\n").join(map(str, VALUES["Ash"]))
    report = added(database, tmp_path / "ash.txt", text.format(joined), system="Ash")
    assert report.is_clean, report.faults
    assert stored(database) == {"Ash": VALUES["Ash"]}
    assert report.notes == ["Mine-refA: scores of 1 of the 3 systems"]


def test_lists_of_several_systems_in_files_of_one_name_stay_beside_each_other(database: Path, tmp_path: Path) -> None:
    for system, values in VALUES.items():
        (tmp_path / system).mkdir()
        added(database, tmp_path / system / "scores.txt", "\n".join(map(str, values)) + "\n", system=system)
    assert stored(database) == VALUES


def test_missing_scores_of_a_list_are_missing(database: Path, tmp_path: Path) -> None:
    report = added(database, tmp_path / "ash.txt", "0.5\nNone\n0.25\nnan\n1e-3\n", system="Ash")
    assert report.is_clean, report.faults
    assert stored(database)["Ash"] == (0.5, None, 0.25, None, 0.001)


def test_a_table_of_one_system_needs_no_column_of_it(database: Path, tmp_path: Path) -> None:
    text = "segment,score\n" + "".join(f"{at + 1},{value}\n" for at, value in enumerate(VALUES["Ash"]))
    report = added(database, tmp_path / "ash.csv", text, system="Ash")
    assert report.is_clean, report.faults
    assert stored(database) == {"Ash": VALUES["Ash"]}


def test_rows_of_another_system_than_the_user_says_are_faults(database: Path, tmp_path: Path) -> None:
    report = added(database, tmp_path / "t.csv", "system,segment,score\nAsh,1,0.5\nBeech,1,0.5\n", system="Ash")
    assert [str(fault) for fault in report.faults] == [
        f"{tmp_path / 't.csv'}:3: system 'Beech', expected Ash, as you said"
    ]


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_scores_in_another_order_are_matched_by_their_texts(database: Path, tmp_path: Path, form: str) -> None:
    order = (4, 0, 3, 1, 2)
    rows = items("Ash", VALUES["Ash"], "score", order)
    text = lines(rows) if form == "jsonl" else json.dumps(rows)
    if form == "csv":
        text = "src,mt,score\n" + "".join(f"{row['src']},{row['mt']},{row['score']}\n" for row in rows)
    report = added(database, tmp_path / f"ash.{form}", text, system="Ash")
    assert report.is_clean, report.faults
    assert stored(database) == {"Ash": VALUES["Ash"]}
    assert f"{tmp_path / f'ash.{form}'}: Ash: placed by source and translation, not by order" in report.notes


def test_fewer_scores_than_segments_are_matched_by_their_texts(database: Path, tmp_path: Path) -> None:
    report = added(database, tmp_path / "ash.jsonl", lines(items("Ash", VALUES["Ash"], "score", (4, 1))), system="Ash")
    assert report.is_clean, report.faults
    assert stored(database) == {"Ash": (0.2, 0.5)}


def test_fewer_scores_than_segments_without_texts_are_refused_with_both_counts(database: Path, tmp_path: Path) -> None:
    report = added(database, tmp_path / "ash.txt", "0.5\n0.25\n", system="Ash")
    assert [str(fault) for fault in report.faults] == [
        f"{tmp_path / 'ash.txt'}:1: 2 scores of 'Ash' and no texts in the file to match them by, expected 5, one per "
        f"segment of {TESTSET} {LP}"
    ]


def test_texts_that_the_warehouse_does_not_have_are_refused_or_counted(database: Path, tmp_path: Path) -> None:
    strange = items("Ash", VALUES["Ash"], "score")
    strange[1]["mt"] = "something else"
    report = added(database, tmp_path / "ash.jsonl", lines(strange), system="Ash")
    assert report.is_clean
    note = "Ash: placed by order; 1 segment with another source and translation than the warehouse has"
    assert f"{tmp_path / 'ash.jsonl'}: {note}" in report.notes
    report = added(database, tmp_path / "ash.jsonl", lines(strange[:3]), system="Ash")
    (fault,) = report.faults
    assert fault.found == (
        "3 scores of 'Ash', 1 of them with a source and translation that the warehouse does not have or has in "
        "several segments"
    )


NO_SYSTEM = "no column system: `scorehouse add FILE system='NAME'` if all rows are of one"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ash.txt", "0.5\n0.25\n"),
        ("ash.jsonl", lines(predictions("Ash"))),
        ("ash.json", json.dumps(items("Ash", VALUES["Ash"]))),
        ("ash.csv", "segment,score\n1,0.5\n"),
        ("ash.tsv", "src\tmt\tscore\na\tb\t0.5\n"),
        ("wide.jsonl", lines([{"segment": 1, "prediction": 0.5}])),
    ],
)
def test_scores_without_a_system_ask_for_it(database: Path, tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(SourceError) as error:
        added(database, tmp_path / name, text)
    assert str(error.value) == f"{tmp_path / name}: no score files among 1 file ({NO_SYSTEM})"


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.json", document()[:-9], "not a JSON document"),
        ("a.json", json.dumps({"Ash.txt": [{"src": "a", "mt": "b"}] * N}), "a row with the keys src, mt"),
        ("a.json", json.dumps({"Ash.txt": [{"COMET": "high"}] * N}), "COMET 'high'"),
        ("a.json", json.dumps({"Ash.txt": [{"COMET": True}] * N}), "COMET True"),
        ("a.json", json.dumps({"Ash.txt": [{"COMET": 10**400}] * N}), f"COMET {10**400}"),
        ("a.json", '{"\\ud83d.txt": [{"COMET": 1}]}', "half of a surrogate pair, which is not a character"),
        ("a.json", json.dumps({"Oak.txt": items("Ash", VALUES["Ash"])}), "unknown system 'Oak' in 5 lines"),
        ("a.out", "Ash.txt\tSegment 0\tscore: 1.0\nAsh.txt\tSegment 2\tscore: 1.0\n", "Segment 2 of Ash.txt"),
        ("a.out", "Ash.txt\tSegment 0\tscore: 1.0\nKilled\n", "'Killed'"),
        ("a.out", "Ash.txt\tSegment 0\tscore: inf\n", "'Ash.txt\\tSegment 0\\tscore: inf'"),
        ("a.txt", "0.5\n\n0.25\n0.5\n0.5\n", "a blank line"),
        ("a.txt", "0.5\n0.25\n0.5\n0.5\n" + "0.5\n" * 20 + "1_0\n", "'1_0'"),
    ],
)
def test_damaged_outputs_are_refused(database: Path, tmp_path: Path, name: str, text: str, found: str) -> None:
    report = added(database, tmp_path / name, text, system="Ash" if name == "a.txt" else None)
    assert found in [fault.found for fault in report.faults]
    assert stored(database) == {}


def test_the_file_of_several_systems_is_not_one_of_them(database: Path, tmp_path: Path) -> None:
    report = added(database, tmp_path / "comet.json", document(), system="Ash")
    assert "one file, that of Ash" in [fault.expected for fault in report.faults]


def test_every_system_of_the_task_can_be_added_by_a_list(database: Path, tmp_path: Path) -> None:
    for system in SYSTEMS[:-1]:
        report = added(database, tmp_path / f"{system}.txt", "".join(f"{at}\n" for at in range(N)), system=system)
    assert report.evalsets[0].n_missing == 0


@pytest.mark.parametrize("metric", ["TER-mine", "MetricX-24-mine"])
def test_errors_that_are_stored_as_they_are_are_noted(database: Path, tmp_path: Path, metric: str) -> None:
    (tmp_path / "ash.txt").write_text("1\n2\n0.5\n3\n2\n")
    way = option("add.is_error_measure", True)
    note = f"a metric that counts errors, none below 0: `scorehouse {way}` stores them negated"
    for is_error_measure in (False, True):
        given = {"reference": "refA", "testset": TESTSET, "lp": LP, "system": "Ash"}
        report = add([tmp_path / "ash.txt"], database, metric, is_error_measure=is_error_measure, **given)  # type: ignore[arg-type]
        assert (f"{tmp_path / 'ash.txt'}: {note}" in report.notes) is not is_error_measure


FORMS = {
    "a.json": document(),
    "a.out": "Ash.txt\tSegment 0\tscore: 1.0\n",
    "a.jsonl": lines(predictions("Ash", system_id="Ash")),
    "a.txt": "0.5\n0.25\n",
    "a.csv": "system,segment,score\nAsh,1,0.5\n",
    "a.tsv": "src\tmt\tscore\na\tb\t0.5\n",
    "a.seg.score": "Ash\t0.5\n",
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("missing", ["testset", "lp"])
def test_every_form_says_what_it_belongs_to_with_an_option(
    database: Path, tmp_path: Path, name: str, missing: str
) -> None:
    with pytest.raises(SourceError, match=rf"with {missing}\)"):
        added(database, tmp_path / name, FORMS[name], system="Ash", **{missing: None})
