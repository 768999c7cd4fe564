"""What metrics' own programs write, added as a metric of one's own: read by itself, and a file of each form added."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import sharing
from tests.helpers import LP, SYSTEMS, TESTSET, tiny_bytes, together
from tests.warehouse.readers.reading import Whole, claimed_as_own, read_own
from warehouse import QuestionError, SourceError, Warehouse
from warehouse.loading.evalsets import LoadReport
from warehouse.own.scores import add, variant_called
from warehouse.readers.claims import Claim
from warehouse.readers.tool_outputs import NO_SYSTEM
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


def values(records: Whole) -> dict[str, tuple[float, ...]]:
    """As `stored` has them."""
    assert not records.faults, records.faults
    frame = records.scores.filter(level="seg").sort("system", "segment")
    return {name: tuple(part["value"]) for (name,), part in frame.group_by("system", maintain_order=True)}


def items(
    system: str, values: Sequence[float], key: str = "COMET", order: Iterable[int] = range(N)
) -> list[dict[str, Any]]:
    """A list as COMET writes it, with the texts of the tiny task."""
    return [
        {"src": f"source {at + 1}", "mt": f"{system} {at + 1}", "ref": f"refA {at + 1}", key: values[at]}
        for at in order
    ]


def document(systems: Iterable[str] = VALUES) -> str:
    content = {f"outputs/{LP}.{system}.txt": items(system, VALUES.get(system, range(N))) for system in systems}
    return json.dumps(content, indent=4)


def lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def predictions(system: str, **more: Any) -> list[dict[str, Any]]:
    """Lines as MetricX writes them."""
    return [
        {"source": f"source {at + 1}", "hypothesis": f"{system} {at + 1}", "reference": f"refA {at + 1}"}
        | {"prediction": VALUES[system][at]}
        | more
        for at in range(N)
    ]


def test_comet_json_brings_each_file_as_the_system_that_it_is_named_after(tmp_path: Path) -> None:
    for text in (document(), json.dumps(json.loads(document()))):
        assert values(read_own(tmp_path / "comet.json", text)) == VALUES


def test_every_system_of_the_task_but_the_reference_is_enough(database: Path, tmp_path: Path) -> None:
    report = added(database, tmp_path / "comet.json", document(SYSTEMS[:-1]))
    assert report.is_clean, report.faults
    assert report.evalsets[0].n_missing == 0
    assert stored(database).keys() == set(SYSTEMS[:-1])
    assert {name: stored(database)[name] for name in VALUES} == VALUES


@together(
    ("place", "text", "expected"),
    [
        ((0, 3), "Ash", (0, 3)),  # it is there
        ((3, 5), "1", (4, 5)),  # the place begins with a blank
        ((0, 4), "Ash", (0, 3)),  # or ends with one
        ((2, 5), "Ash", (0, 3)),  # elsewhere, and the text occurs once
        ((1, 2), "b", None),  # it does not occur
        ((2, 5), "A", (0, 1)),
    ],
)
def test_the_text_of_a_span_says_its_place(
    place: tuple[int, int], text: str, expected: tuple[int, int] | None, tmp_path: Path
) -> None:
    rows = items("Ash", VALUES["Ash"])
    rows[0]["error_spans"] = [{"text": text, "severity": "minor", "start": place[0], "end": place[1]}]
    records = read_own(tmp_path / "xcomet.json", json.dumps({"hyp.txt": rows}), system="Ash")
    if expected is None:
        (fault,) = records.faults
        assert (
            fault.found
            == f"a span of Ash, segment 1 with the text {text!r}, but {'Ash 1'[slice(*place)]!r} is at its offsets"
        )
        return
    assert records.ratings.select("span_start", "span_end").rows() == [expected]
    moved = [note for note in records.notes if "moved to where their text is" in note]
    assert len(moved) == (place != expected)


def test_spans_of_xcomet_come_in_beside_its_scores(tmp_path: Path) -> None:
    rows = items("Ash", VALUES["Ash"])
    rows[0]["errors"] = [{"text": "Ash", "confidence": 0.5, "severity": "minor", "start": 0, "end": 3}] * 2
    rows[1]["error_spans"] = [{"text": "Ash", "confidence": 0.5, "severity": "minor", "start": 0, "end": 3}]
    records = read_own(tmp_path / "xcomet.json", json.dumps({"hyp.txt": rows}), system="Ash")
    assert "3 error spans in 2 outputs" in records.notes
    assert values(records) == {"Ash": VALUES["Ash"]}


def test_printed_lines_of_comet_bring_segments_and_systems(tmp_path: Path) -> None:
    printed = [f"{system}.txt\tSegment {at}\tscore: {VALUES[system][at]:.4f}" for at in range(N) for system in VALUES]
    printed += [f"{system}.txt\tscore: 0.3000" for system in VALUES] + ["Predictions saved in: comet.json."]
    records = read_own(tmp_path / "comet.out", "\n".join(printed) + "\n")
    assert values(records) == VALUES
    assert records.scores.filter(level="sys").select("system", "value").rows() == [("Ash", 0.3), ("Beech", 0.3)]


def test_predictions_of_metricx_are_errors(database: Path, tmp_path: Path) -> None:
    """Negated once, whether the user says so or not."""
    text = lines(predictions("Ash"))
    for is_error_measure in (True, False):
        found, _ = claimed_as_own(tmp_path / "out.jsonl", text, system="Ash", is_error_measure=is_error_measure)
        assert isinstance(found, Claim)
        assert found.is_negated
    report = added(database, tmp_path / "out.jsonl", text, system="Ash")
    assert report.is_clean, report.faults
    assert stored(database) == {"Ash": tuple(-value for value in VALUES["Ash"])}
    assert f"{tmp_path / 'out.jsonl'}: prediction counts errors, lower is better: stored negated" in report.notes


@together("is_numbered", [True, False])
def test_predictions_of_several_systems_have_a_key_that_names_them(tmp_path: Path, is_numbered: bool) -> None:
    rows = [row | {"system_id": system} for system in VALUES for row in predictions(system, label=1.0)]
    if is_numbered:
        rows = [row | {"segment_id": at % N + 1} for at, row in enumerate(rows)]
    found, _ = claimed_as_own(tmp_path / "out.jsonl", lines(rows))
    assert isinstance(found, Claim)
    assert found.is_negated
    records = read_own(tmp_path / "out.jsonl", lines(rows))
    assert values(records) == VALUES  # the stage negates them
    assert any("stored negated" in note for note in records.notes)


@together("is_numbered", [True, False])
def test_predictions_beside_the_scores_of_the_metric_change_no_sign(tmp_path: Path, is_numbered: bool) -> None:
    rows = [
        row | {"prediction": 9.0, "Mine": value} | ({"segment_id": at} if is_numbered else {})
        for at, (row, value) in enumerate(zip(predictions("Ash"), VALUES["Ash"], strict=True), start=1)
    ]
    found, _ = claimed_as_own(tmp_path / "out.jsonl", lines(rows), system="Ash")
    assert isinstance(found, Claim)
    assert not found.is_negated
    records = read_own(tmp_path / "out.jsonl", lines(rows), system="Ash")
    assert values(records) == {"Ash": VALUES["Ash"]}
    assert not any("negated" in note for note in records.notes)


def test_a_list_of_scores_is_in_the_order_of_the_segments(tmp_path: Path) -> None:
    for text in ("{}\n", "score\n{}\n", "[{}]"):
        joined = (", " if text.startswith("[") else "\n").join(map(str, VALUES["Ash"]))
        assert values(read_own(tmp_path / "ash.txt", text.format(joined), system="Ash")) == {"Ash": VALUES["Ash"]}


@pytest.mark.slow
def test_lists_of_several_systems_in_files_of_one_name_stay_beside_each_other(database: Path, tmp_path: Path) -> None:
    for system, of_system in VALUES.items():
        (tmp_path / system).mkdir()
        text = "\n".join(map(str, of_system)) + "\n"
        report = added(database, tmp_path / system / "scores.txt", text, system=system)
        assert report.notes == ["Mine-refA: scores of 1 of 3 systems"]
    assert stored(database) == VALUES


def test_missing_scores_of_a_list_are_missing(tmp_path: Path) -> None:
    records = read_own(tmp_path / "ash.txt", "0.5\nNone\n0.25\nnan\n1e-3\n", system="Ash")
    assert values(records) == {"Ash": (0.5, None, 0.25, None, 0.001)}


def test_a_table_of_one_system_needs_no_column_of_it(tmp_path: Path) -> None:
    text = "segment,score\n" + "".join(f"{at + 1},{value}\n" for at, value in enumerate(VALUES["Ash"]))
    assert values(read_own(tmp_path / "ash.csv", text, system="Ash")) == {"Ash": VALUES["Ash"]}


BY_ORDER = "no segment column: the rows of each system are read in the order of the test set"


def numbered(column: str, header: str, order: Iterable[int] = range(2 * N)) -> list[list[str]]:
    """A table as pandas writes it with its index, which may be that of another order of rows."""
    rows = [[str(at), list(VALUES)[at // N], str(list(VALUES.values())[at // N][at % N])] for at in order]
    return [[column, *header.split(",")], *rows]


@together("header", ["system,score", "model,comet", "system,Mine"])
@together("column", ["", "Unnamed: 0", "id"])
def test_an_index_of_rows_that_were_reordered_is_refused_and_one_that_rises_is_named(
    tmp_path: Path, header: str, column: str
) -> None:
    table = numbered(column, header)
    named = column or "the first, which has no name"
    records = read_own(tmp_path / "mine.csv", "".join(",".join(row) + "\n" for row in table))
    assert values(records) == VALUES
    assert records.notes == [BY_ORDER, f"columns not read: {named}"]
    table[2], table[4] = table[4], table[2]
    shuffled = read_own(tmp_path / "mine.csv", "".join(",".join(row) + "\n" for row in table))
    assert [(fault.line, fault.found) for fault in shuffled.faults] == [
        (4, "row 2 behind row 3 of 'Ash': the rows were reordered")
    ]


def test_rows_that_nothing_numbers_are_placed_by_order_with_a_note(tmp_path: Path) -> None:
    rows = [row[1:] for row in numbered("", "system,comet", (4, 8, 1, 0, 2, 3, 5, 9, 6, 7))]
    records = read_own(tmp_path / "mine.csv", "".join(",".join(row) + "\n" for row in rows))
    assert (records.notes, records.faults) == ([BY_ORDER], [])
    behind = "".join(f"{name},{value},{'x' if at else ''}\n" for at, (name, value) in enumerate(rows))
    assert read_own(tmp_path / "mine.csv", behind).notes == [BY_ORDER, "columns not read: column 3, which has no name"]
    texts = lines({"system": name, "comet": float(value), "index of it": "x"} for name, value in rows[1:])
    assert read_own(tmp_path / "mine.jsonl", texts).notes == [BY_ORDER, "columns not read: index of it"]
    ids = lines({"system": name, "score": float(value), "id": -at} for at, (name, value) in enumerate(rows[1:]))
    assert [fault.line for fault in read_own(tmp_path / "mine.jsonl", ids).faults] == [3]
    both = [[column, "8" if at == 3 else "9", *more] for at, (column, *more) in enumerate(numbered("", "system,score"))]
    both[0][1] = "id"
    text = "".join(",".join(row) + "\n" for row in both)
    assert [fault.line for fault in read_own(tmp_path / "mine.csv", text).faults] == [4]


def test_scores_of_systems_are_none_of_segments_whatever_their_column_is_called(tmp_path: Path) -> None:
    for lp, column in ((LP, "score"), (LP, "comet"), ("de-en", "comet")):
        text = f"lp,system,{column}\n{lp},Ash,0.5\n{LP},Beech,0.25\nde-en,Beech,0.5\n"
        assert set(read_own(tmp_path / "mine.csv", text).scores["level"]) == {"sys"}
        records = read_own(tmp_path / "mine.csv", f"system,{column}\nAsh,0.5\nBeech,0.25\n")
        assert records.scores.select("level", "system", "value").rows() == [("sys", "Ash", 0.5), ("sys", "Beech", 0.25)]


def test_rows_of_another_system_than_the_user_says_are_faults(tmp_path: Path) -> None:
    records = read_own(tmp_path / "t.csv", "system,segment,score\nAsh,1,0.5\nBeech,1,0.5\n", system="Ash")
    assert [str(fault) for fault in records.faults] == [
        f"{tmp_path / 't.csv'}:3: system 'Beech', expected Ash, as specified"
    ]


def test_scores_in_another_order_are_matched_by_their_texts(tmp_path: Path) -> None:
    rows = items("Ash", VALUES["Ash"], "score", (4, 0, 3, 1, 2))
    table = "src,mt,score\n" + "".join(f"{row['src']},{row['mt']},{row['score']}\n" for row in rows)
    for name, text in {"ash.jsonl": lines(rows), "ash.json": json.dumps(rows), "ash.csv": table}.items():
        records = read_own(tmp_path / name, text, system="Ash")
        assert values(records) == {"Ash": VALUES["Ash"]}
        assert "Ash: placed by source and translation, not by order" in records.notes


@pytest.mark.slow
def test_fewer_scores_than_segments_are_matched_by_the_texts_of_the_warehouse(database: Path, tmp_path: Path) -> None:
    report = added(database, tmp_path / "ash.jsonl", lines(items("Ash", VALUES["Ash"], "score", (4, 1))), system="Ash")
    assert report.is_clean, report.faults
    assert stored(database) == {"Ash": (0.2, 0.5)}


def test_fewer_scores_than_segments_without_texts_are_refused_with_both_counts(tmp_path: Path) -> None:
    records = read_own(tmp_path / "ash.txt", "0.5\n0.25\n", system="Ash")
    assert [str(fault) for fault in records.faults] == [
        f"{tmp_path / 'ash.txt'}:1: 2 scores of 'Ash' and no texts in the file to match them by, expected 5, one per "
        f"segment of {TESTSET} {LP}"
    ]


def test_texts_that_the_warehouse_does_not_have_are_refused_or_counted(tmp_path: Path) -> None:
    strange = items("Ash", VALUES["Ash"], "score")
    strange[1]["mt"] = "something else"
    records = read_own(tmp_path / "ash.jsonl", lines(strange), system="Ash")
    assert not records.faults
    note = "Ash: placed by order; 1 segment with other source and translation than in the warehouse"
    assert note in records.notes
    (fault,) = read_own(tmp_path / "ash.jsonl", lines(strange[:3]), system="Ash").faults
    assert fault.found == (
        "3 scores of 'Ash', 1 of them with a source and translation that the warehouse does not have or has in "
        "several segments"
    )


@together(
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
def test_scores_without_a_system_ask_for_it(tmp_path: Path, name: str, text: str) -> None:
    assert claimed_as_own(tmp_path / name, text)[0] == NO_SYSTEM


def test_what_no_reader_takes_is_refused_with_the_reason(database: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as error:
        added(database, tmp_path / "ash.txt", "0.5\n0.25\n")
    why = "no system column; if all rows belong to one system, use `scorehouse add FILE system='NAME'`"
    assert str(error.value) == f"{tmp_path / 'ash.txt'}: no score files among 1 file ({why})"


@together(
    ("name", "text", "found"),
    [
        ("a.json", document()[:-9], "not a JSON document"),
        ("a.json", json.dumps({"Ash.txt": [{"src": "a", "mt": "b"}] * N}), "a row with the keys src, mt"),
        ("a.json", json.dumps({"Ash.txt": [{"COMET": "high"}] * N}), "COMET 'high'"),
        ("a.json", json.dumps({"Ash.txt": [{"COMET": True}] * N}), "COMET True"),
        ("a.json", json.dumps({"Ash.txt": [{"COMET": 10**400}] * N}), f"COMET {10**400}"),
        ("a.json", '{"\\ud83d.txt": [{"COMET": 1}]}', "half of a surrogate pair, which is not a character"),
        ("a.out", "Ash.txt\tSegment 0\tscore: 1.0\nAsh.txt\tSegment 2\tscore: 1.0\n", "Segment 2 of Ash.txt"),
        ("a.out", "Ash.txt\tSegment 0\tscore: 1.0\nKilled\n", "'Killed'"),
        ("a.out", "Ash.txt\tSegment 0\tscore: inf\n", "'Ash.txt\\tSegment 0\\tscore: inf'"),
        ("a.txt", "0.5\n\n0.25\n0.5\n0.5\n", "a blank line"),
        ("a.txt", "0.5\n0.25\n0.5\n0.5\n" + "0.5\n" * 20 + "1_0\n", "'1_0'"),
    ],
)
def test_damaged_outputs_are_refused(tmp_path: Path, name: str, text: str, found: str) -> None:
    records = read_own(tmp_path / name, text, system="Ash" if name == "a.txt" else None)
    assert found in [fault.found for fault in records.faults]


def test_the_file_of_several_systems_is_not_one_of_them(tmp_path: Path) -> None:
    records = read_own(tmp_path / "comet.json", document(), system="Ash")
    assert "one file, that of Ash" in [fault.expected for fault in records.faults]


@pytest.mark.slow
def test_errors_are_stored_negated_where_the_user_says_so(database: Path, tmp_path: Path) -> None:
    assert added(database, tmp_path / "ash.txt", "1\n2\n0.5\n3\n2\n", system="Ash", is_error_measure=True).is_clean
    assert stored(database) == {"Ash": (-1.0, -2.0, -0.5, -3.0, -2.0)}


FORMS = {
    "a.json": document(),
    "a.out": "Ash.txt\tSegment 0\tscore: 1.0\n",
    "a.jsonl": lines(predictions("Ash", system_id="Ash")),
    "a.txt": "0.5\n0.25\n",
    "a.csv": "system,segment,score\nAsh,1,0.5\n",
    "a.tsv": "src\tmt\tscore\na\tb\t0.5\n",
    "a.seg.score": "Ash\t0.5\n",
}


def test_every_form_says_what_it_belongs_to_with_an_option(tmp_path: Path) -> None:
    said = {
        (name, missing): str(claimed_as_own(tmp_path / name, text, system="Ash", **{missing: None})[0])
        for name, text in FORMS.items()
        for missing in ("testset", "lp")
    }
    ends = {form: (f"with {option(form[1])}", f"add {option(form[1])} to say what they belong to") for form in said}
    assert not {form: words for form, words in said.items() if not words.endswith(ends[form])}


def _rows(first: int = 1) -> list[tuple[str, int, float]]:
    return [(system, at, value) for system, of in VALUES.items() for at, value in enumerate(of, start=first)]


def _by_system(first: int | None = 1) -> str:
    lines = [",".join(["segment", *VALUES] if first is not None else VALUES)]
    for at, values in enumerate(zip(*VALUES.values(), strict=True), start=first or 0):
        lines.append(",".join(map(str, values if first is None else (at, *values))))
    return "\n".join(lines) + "\n"


def _records(first: int = 1) -> str:
    return json.dumps([{"system": s, "segment": n, "score": v} for s, n, v in _rows(first)], indent=1)


_OBJECT = {"scores": VALUES["Ash"], "system_score": 0.3}
_ONE = {"Ash": VALUES["Ash"]}
OTHER_FORMS: dict[str, tuple[str, dict[str, Any], dict[str, tuple[float, ...]]]] = {
    "comet.json": (json.dumps(_OBJECT), {"system": "Ash"}, _ONE),
    "lines.json": (json.dumps(_OBJECT, indent=2), {"system": "Ash"}, _ONE),
    "mean.json": (json.dumps({"mean_score": 0.3, "scores": VALUES["Ash"]}) + "\n", {"system": "Ash"}, _ONE),
    "records.json": (_records(), {}, VALUES),
    "one-line.json": (json.dumps(json.loads(_records())) + "\n", {}, VALUES),
    "zero.json": (_records(0), {"first_segment": 0}, VALUES),
    "columns.csv": (_by_system(), {}, VALUES),
    "in-order.csv": (_by_system(None), {}, VALUES),
    "columns-zero.csv": (_by_system(0), {"first_segment": 0}, VALUES),
    "triples.txt": ("".join(f"{s} {n} {v}\n" for s, n, v in _rows()), {}, VALUES),
    "triples.seg.score": ("".join(f"{s}\t{n}\t{v}\n" for s, n, v in _rows()), {}, VALUES),
    "triples-zero.csv": ("".join(f"{s},{n},{v}\n" for s, n, v in _rows(0)), {"first_segment": 0}, VALUES),
    "blanks.seg.score": ("".join(f"{s}  {v}\n" for s, _, v in _rows()), {}, VALUES),
    "table-zero.csv": (
        "system,segment,score\n" + "".join(f"{s},{n},{v}\n" for s, n, v in _rows(0)),
        {"first_segment": 0},
        VALUES,
    ),
    "Ash.txt": ("".join(f"{value}\n" for value in VALUES["Ash"]), {}, _ONE),
    "en-de.Ash.scores": ("".join(f"{value}\n" for value in VALUES["Ash"]), {}, _ONE),
    "Ash.json": (json.dumps(_OBJECT), {}, _ONE),
    "Ash.csv": ("segment,score\n" + "".join(f"{n},{v}\n" for _, n, v in _rows()[:N]), {}, _ONE),
}


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_forms_that_people_have_are_read(name: str, tmp_path: Path) -> None:
    text, more, expected = OTHER_FORMS[name]
    records = read_own(tmp_path / name, text, **more)
    assert values(records) == expected
    assert records.scores.filter(level="sys")["value"].to_list() == ([0.3] if "scores" in text[:40] else [])


def test_a_stated_mean_that_its_scores_contradict_is_told(tmp_path: Path) -> None:
    scores = VALUES["Ash"]
    mean = sum(scores) / len(scores)
    for stated, is_told in ((mean, False), (round(mean, 2), False), (mean + 0.5, True)):
        notes = read_own(tmp_path / "m.json", json.dumps({"mean_score": stated, "scores": scores}), system="Ash").notes
        assert any("the mean of its scores" in note for note in notes) == is_told, stated


@pytest.mark.parametrize(("name", "lps"), [("zh-en.Mine-refA.seg.score", {"en-de"}), ("zhen.Mine-src.csv", {"en-de"})])
def test_a_file_named_after_another_language_pair_is_refused(name: str, lps: set[str]) -> None:
    with pytest.raises(QuestionError, match=r"is named after zh-?en, but the ranking is of en-de"):
        variant_called(Path(name), lps)


@pytest.mark.slow
def test_a_file_for_each_system_is_added_together(database: Path, tmp_path: Path) -> None:
    for system, scores in VALUES.items():
        (tmp_path / "mine").mkdir(exist_ok=True)
        (tmp_path / "mine" / f"{system}.txt").write_text("".join(f"{value}\n" for value in scores))
    report = add([tmp_path / "mine"], database, "Mine", reference="refA", testset=TESTSET, lp=LP)
    assert report.is_clean, report.faults
    assert stored(database) == VALUES


@together("name", ["zero.json", "table-zero.csv", "columns-zero.csv"])
def test_segments_that_begin_with_0_name_the_option(name: str, tmp_path: Path) -> None:
    faults = read_own(tmp_path / name, OTHER_FORMS[name][0]).faults
    assert [(fault.found.partition(",")[0], option("first_segment", 0) in fault.way_out) for fault in faults] == [
        ("segment numbers that begin at 0", True)
    ]
