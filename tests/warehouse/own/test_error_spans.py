"""Error spans of a metric of one's own, in every form that they are written in, and gold ones beside them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import sharing
from tests.helpers import LP, SYSTEMS, TESTSET, tiny_bytes, together
from tests.warehouse.readers.reading import Whole, read, read_own
from warehouse import Warehouse, load
from warehouse.export import export
from warehouse.own.scores import add
from warehouse.readers.claims import LoadHints
from warehouse.readers.error_spans import ErrorSpanReader

N = 5  # segments of the tiny task
TEXT = "Ash 1"  # the first output: five characters
Span = tuple[int | None, int | None, str]
PREDICTED: Mapping[tuple[str, int], Sequence[Span] | None] = {
    ("Ash", 1): [(0, 3, "minor"), (4, 5, "major")],
    ("Ash", 2): [],
    ("Ash", 3): None,
    ("Ash", 4): [(0, 3, "major"), (None, None, "minor")],
    ("Ash", 5): [],
    **{("Beech", at): [(2, 4, "minor")] for at in range(1, N + 1)},
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return sharing.written(tmp_path / "scores.duckdb", tiny_bytes())


def task_tsv(predicted: Mapping[tuple[str, int], Sequence[Span] | None] = PREDICTED) -> str:
    """WMT25's task 2; an output without a prediction has no row."""
    lines = ["source_lang\ttarget_lang\tset_id\tsystem_id\tsegment_id\tmethod\tstart_indices\tend_indices\terror_types"]
    for (system, at), spans in predicted.items():
        if spans is None:
            continue
        words = [[*map(str, column)] for column in zip(*spans, strict=True)] or [["-1"], ["-1"], ["no-error"]]
        cells = [" ".join(words[column]).replace("None", "missing") for column in range(3)]
        lines.append("\t".join(["en", "de", "official", system, str(at), "Mine", *cells]))
    return "\n".join(lines) + "\n"


def own_table(predicted: Mapping[tuple[str, int], Sequence[Span] | None] = PREDICTED) -> str:
    lines = ["system,segment,start,end,severity"]
    for (system, at), spans in predicted.items():
        rows = [f"{'' if a is None else a},{'' if b is None else b},{s}" for a, b, s in spans or ()] or [",,no-error"]
        lines += [f"{system},{at},{row}" for row in rows if spans is not None]
    return "\n".join(lines) + "\n"


def as_json(spans: Sequence[Span]) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "severity": severity} for start, end, severity in spans]


def rating() -> str:
    lines = [
        f"{system}\t{'None' if spans is None else json.dumps({'errors': as_json(spans)})}\n"
        for (system, _), spans in PREDICTED.items()
    ]
    return "".join(lines)


def xcomet(**more: Any) -> str:
    content: dict[str, list[dict[str, Any]]] = {}
    for (system, at), spans in PREDICTED.items():
        item: dict[str, Any] = {"src": f"source {at}", "mt": f"{system} {at}"} | more
        marked = [span | {"text": item["mt"][span["start"] : span["end"]]} for span in as_json(spans or ())]
        item["error_spans"] = None if spans is None else [span | {"confidence": 0.5} for span in marked]
        content.setdefault(f"{system}.txt", []).append(item)
    return json.dumps(content)


def wmt26(*, is_full: bool = False) -> str:
    """Spans alone, or as the task has them: beside omissions, which have no place, and scores."""
    lines = []
    for at in range(1, N + 1):
        predicted = {
            system: as_json(spans) for (system, n), spans in PREDICTED.items() if n == at and spans is not None
        }
        item = {"item_id": f"news_###_d_###_{at - 1}", "task2_pred": predicted}
        if is_full:
            objects = {system: _with_omission(spans) for system, spans in predicted.items()}
            name = f"official_###_eng_Latn_###_deu_Latn_###_news_###_d_###_{at - 1}"
            item = {"item_id": name, "task1_pred": objects, "task2_pred": dict.fromkeys(predicted, 60.5)}
        lines.append(json.dumps(item))
    return "\n".join(lines) + "\n"


def _with_omission(spans: list[dict[str, Any]]) -> dict[str, Any]:
    without = [span["severity"] for span in spans if span["start"] is None]
    placed = [span for span in spans if span["start"] is not None]
    return {"errors": placed, "omission": without[0] if without else None, "instruction_fault": None}


def spans_in(database: Path, scorer: str = "Mine-src") -> dict[tuple[str, int], list[Span]]:
    with Warehouse.open(database) as warehouse:
        looked = warehouse.rows("SELECT system, segment FROM annotations WHERE scorer = $scorer", {"scorer": scorer})
        found: dict[tuple[str, int], list[Span]] = {(system, segment): [] for system, segment in looked}
        query = """
            SELECT system, segment, span_start, span_end, severity FROM spans WHERE scorer = $scorer
            ORDER BY span_start NULLS LAST
            """
        for system, segment, *span in warehouse.rows(query, {"scorer": scorer}):
            found[system, segment].append(tuple(span))
    return found


def looked_at(database: Path) -> list[tuple[Any, ...]]:
    """Annotations with their spans, of every scorer."""
    query = """
        SELECT a.scorer, a.system, a.segment, a.rater, list(
            [s.span_start::VARCHAR, s.span_end::VARCHAR, s.severity, s.severity_class] ORDER BY s.span_start, s.span_end
        ) FILTER (s.severity IS NOT NULL)
        FROM annotations AS a LEFT JOIN spans AS s USING (annotation)
        WHERE a.scorer IN ('Mine-src', 'gold')
        GROUP BY a.annotation, a.scorer, a.system, a.segment, a.rater
        ORDER BY ALL
        """
    with Warehouse.open(database) as warehouse:
        return warehouse.rows(query)


def scores_in(database: Path) -> dict[tuple[str, int], float | None]:
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows("SELECT system, segment, value FROM scores WHERE metric = 'Mine-src'")
    return {(system, segment): value for system, segment, value in rows}


EXPECTED = {output: list(spans) for output, spans in PREDICTED.items() if spans is not None}
DERIVED = {
    output: -float(sum({"minor": 1, "major": 5}[severity] for *_, severity in spans))
    for output, spans in EXPECTED.items()
}


FORMS = {"task2.tsv": task_tsv(), "mine.csv": own_table(), "en-de.Mine.seg.rating": rating(), "xcomet.json": xcomet()}


def spans_of(records: Whole) -> dict[tuple[str, int], list[Span]]:
    """As `spans_in` has them."""
    assert not records.faults, records.faults
    judged = records.judgements.select("judgement", "system", "segment").rows()
    outputs = {judgement: (system, at) for judgement, system, at in judged}
    found: dict[tuple[str, int], list[Span]] = {output: [] for output in outputs.values()}
    marked = records.ratings.sort("span_start", nulls_last=True)
    for judgement, *span in marked.select("judgement", "span_start", "span_end", "severity").rows():
        found[outputs[judgement]].append(tuple(span))
    return found


@together("name", FORMS)
def test_spans_come_in_and_make_the_scores(tmp_path: Path, name: str) -> None:
    records = read_own(tmp_path / name, FORMS[name], reference=None)
    assert spans_of(records) == EXPECTED
    found = records.scores.drop_nulls("value").select("system", "segment", "value", "is_derived").rows()
    assert {(system, at): value for system, at, value, _ in found} == DERIVED
    assert {is_derived for *_, is_derived in found} == {True}


def test_scores_of_the_file_stay_beside_its_spans(tmp_path: Path) -> None:
    records = read_own(tmp_path / "xcomet.json", xcomet(COMET=0.5))
    assert spans_of(records) == EXPECTED
    assert records.scores.select("value", "is_derived").unique().rows() == [(0.5, False)]


def test_gold_spans_are_a_human_score(tmp_path: Path) -> None:
    given = LoadHints(testset=TESTSET, lp=LP, human="gold")
    records = read(ErrorSpanReader(), tmp_path / "gold.tsv", task_tsv(), given)
    assert spans_of(records) == EXPECTED
    assert records.scores_from_judgements
    judged = records.judgements.select("system", "segment", "scorer", "value").rows()
    assert {(system, at): value for system, at, _, value in judged} == DERIVED
    assert {scorer for *_, scorer, _ in judged} == {"gold"}


@pytest.mark.slow
def test_exported_spans_come_back_and_a_file_added_again_replaces_them(database: Path, tmp_path: Path) -> None:
    """Of a metric, and of a human score with two annotators of an output; also empty and missing ones."""
    (tmp_path / "mine.csv").write_text(own_table())
    rows = [line.split(",", 2) for line in own_table().splitlines()]
    lines = [",".join([system, at, who, rest]) for who in ("r1", "r2") for system, at, rest in rows[1:]]
    lines.append("Beech,1,r2,0,2,critical")
    (tmp_path / "gold.csv").write_text("\n".join(["system,segment,rater,start,end,severity", *lines]) + "\n")
    assert not add([tmp_path / "mine.csv"], database, "Mine", testset=TESTSET, lp=LP).faults
    given = LoadHints(testset=TESTSET, lp=LP, human="gold")
    assert not load([tmp_path / "gold.csv"], database, given=given).faults
    folder = tmp_path / "out" / TESTSET / LP
    (done,) = export(database, tmp_path / "out", "spans", TESTSET, LP)
    assert done.n_rows == sum(
        len((folder / name).read_text().splitlines()) - 1 for name in ("Mine-src.tsv", "gold.tsv")
    )
    assert done.notes == ()
    back = sharing.written(tmp_path / "back.duckdb", tiny_bytes())
    assert not add([folder / "Mine-src.tsv"], back, "Mine", testset=TESTSET, lp=LP).faults
    assert not load([folder / "gold.tsv"], back, given=given).faults
    assert looked_at(back) == looked_at(database)
    assert spans_in(database) == EXPECTED
    assert {output: value for output, value in scores_in(database).items() if value is not None} == DERIVED
    with Warehouse.open(database) as warehouse:
        assert warehouse.rows("SELECT is_derived, is_own FROM metrics WHERE metric = 'Mine-src'") == [(True, True)]
    assert len({rater for scorer, *_, rater, _ in looked_at(back) if scorer == "gold"}) == 2
    (tmp_path / "mine.csv").write_text(own_table({output: [] for output in PREDICTED}))
    assert not add([tmp_path / "mine.csv"], database, "Mine", testset=TESTSET, lp=LP).faults
    assert spans_in(database) == {output: [] for output in PREDICTED}


@pytest.mark.slow
def test_an_export_of_spans_counts_what_has_no_place_in_it(database: Path, tmp_path: Path) -> None:
    text = (
        "system,segment,start,end,severity,category,side\nAsh,1,0,3,minor,accuracy,\nAsh,1,0,3,minor,,source\n"
        "Ash,1,1,2,not sure,,\n"
    )
    (tmp_path / "mine.csv").write_text(text)
    assert not add([tmp_path / "mine.csv"], database, "Mine", testset=TESTSET, lp=LP).faults
    (done,) = export(database, tmp_path / "out", "spans", TESTSET, LP)
    assert done.notes == (
        "Mine-src: 1 error in the source is excluded",
        "Mine-src: 1 error whose severity is not one word is excluded",
        "Mine-src: 1 category is excluded",
    )
    (row,) = (tmp_path / "out" / TESTSET / LP / "Mine-src.tsv").read_text().splitlines()[1:]
    assert row.split("\t")[-3:] == ["0", "3", "minor"]


@pytest.mark.slow
def test_what_is_no_span_is_refused_in_one_line(database: Path, tmp_path: Path) -> None:
    wrong = {
        "Ash,1,-1,3,minor": "character '-1'",
        "Ash,1,0.5,3,minor": "character '0.5'",
        "Ash,1,x,3,minor": "character 'x'",
        "Ash,1,0,99999999999,minor": "character '99999999999'",
        "Ash,1,0,,minor": "from 0 to None",
        "Ash,1,0,3,": "severity None",
        "Ash,99,0,3,minor": "99",
        "Nobody,1,0,3,minor": "Nobody",
    }
    path = tmp_path / "mine.csv"
    path.write_text(own_table() + "".join(f"{row}\n" for row in wrong))
    report = add([path], database, "Mine", testset=TESTSET, lp=LP)
    found = {fault.line: fault.found for fault in report.faults}
    first = own_table().count("\n") + 1
    assert not [words for line, words in enumerate(wrong.values(), start=first) if words not in found.get(line, "")]
    assert len(report.faults) == len(wrong)
    assert spans_in(database) == {}


def test_lists_of_different_lengths_are_refused(tmp_path: Path) -> None:
    rows = ("Cherry\t1\tMine\t0 4\t3\tminor", "Cherry\t2\tMine\t0\t3\t")
    text = task_tsv() + "".join(f"en\tde\tofficial\t{row}\n" for row in rows)
    one, other = read_own(tmp_path / "task2.tsv", text).faults
    assert "2 starts, 1 ends and 1 error types" in one.found
    assert "1 starts, 1 ends and 0 error types" in other.found


@pytest.mark.slow
def test_what_measures_leave_out_is_stored_and_counted(database: Path, tmp_path: Path) -> None:
    """Ends behind the text, empty spans, overlaps, unknown severities, and a system without texts: all of them stay."""
    odd: list[Span] = [(0, 99, "minor"), (2, 2, "minor"), (3, 1, "major"), (0, 4, "major"), (1, 3, "unclear")]
    path = tmp_path / "mine.csv"
    path.write_text(own_table({("Ash", 1): odd}))
    report = add([path], database, "Mine", testset=TESTSET, lp=LP)
    assert not report.faults
    assert sorted(spans_in(database)["Ash", 1]) == sorted(odd)
    (note,) = [note for note in report.notes if "marked error" in note]
    assert "of 5 marked errors, 1 end after the text" in note
    assert "2 empty" in note
    assert "1 with a severity other than" in note


def test_characters_are_code_points(tmp_path: Path) -> None:
    """A pair of surrogates in JSON is one character, a combining accent is one of its own."""
    text = "a\U0001f600e\u0301 b"
    item = {"src": "s", "mt": text, "error_spans": [{"start": 1, "end": 4, "severity": "minor"}]}
    written = json.dumps({"Ash.txt": [item] * N})
    assert "\\ud83d" in written
    assert spans_of(read_own(tmp_path / "one.json", written, system="Ash"))["Ash", 1] == [(1, 4, "minor")]
    assert len(text[1:4]) == 3


def test_ends_may_be_the_last_characters(tmp_path: Path) -> None:
    records = read_own(tmp_path / "task2.tsv", task_tsv(), has_inclusive_ends=True)
    later = [(start, None if end is None else end + 1, severity) for start, end, severity in EXPECTED["Ash", 4]]
    assert spans_of(records)["Ash", 4] == later


@pytest.mark.slow
def test_spans_of_wmt26_are_placed_by_the_items_names(tmp_path: Path) -> None:
    documents = "".join("news\td\n" for _ in range(N))
    root = tmp_path / "t26"
    for name, content in {
        "documents/en-de.docs": documents,
        **{f"system-outputs/en-de/{s}.txt": "".join(f"{s} {at}\n" for at in range(1, N + 1)) for s in SYSTEMS},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    database = tmp_path / "w.duckdb"
    assert not load([root], database).faults
    for is_full in (False, True):
        (tmp_path / "pred.jsonl").write_text(wmt26(is_full=is_full))
        report = add([tmp_path / "pred.jsonl"], database, "Mine", testset="t26", lp=LP)
        assert not report.faults, report.faults
        assert spans_in(database) == EXPECTED, is_full
        with Warehouse.open(database) as warehouse:
            values = warehouse.rows("SELECT DISTINCT value FROM scores WHERE metric = 'Mine-src'")
        assert (values == [(60.5,)]) == is_full


def item(predicted: Mapping[str, Any], name: str = "official_###_eng_Latn_###_deu_Latn_###_news_###_d_###_0") -> str:
    """A line of WMT26: what each task predicts of Ash."""
    return json.dumps({"item_id": name} | {task: {"Ash": of} for task, of in predicted.items()}) + "\n"


MINOR = as_json([(0, 3, "minor")])
CHALLENGE = "challenge_###_en_###_de_###_negation_###_n_###_0"


def test_challenge_items_are_read_alone_and_counted_beside_those_of_the_test_set(tmp_path: Path) -> None:
    """They are no segments of the test set; alone they are of the set that the user names."""
    challenge = item({"task1_pred": MINOR}, CHALLENGE)
    both = read_own(tmp_path / "pred.jsonl", item({"task1_pred": MINOR}) + challenge * 2)
    assert both.scores["document"].to_list() == ["d"]
    assert both.notes[0].startswith("2 challenge items not read: add them from a file of their own with ")
    alone = read_own(tmp_path / "pred.jsonl", challenge, testset="negations")
    assert alone.scores.select("testset", "document", "index").rows() == [("negations", "n", 1)]
    assert not any("challenge" in note for note in alone.notes)


@together(
    ("first", "second", "n_again"),
    [
        ({"task1_pred": MINOR, "task2_pred": 5}, {"task1_pred": MINOR, "task2_pred": 5}, 1),
        ({"task1_pred": MINOR}, {"task2_pred": 5}, 0),
        ({"task2_pred": 5}, {"task1_pred": MINOR, "task2_pred": 5}, 1),
        ({"task1_pred": None, "task2_pred": None}, {"task1_pred": MINOR, "task2_pred": 5}, 0),
    ],
)
def test_lines_of_one_item_are_put_together(
    first: Mapping[str, Any], second: Mapping[str, Any], n_again: int, tmp_path: Path
) -> None:
    records = read_own(tmp_path / "pred.jsonl", item(first) + item(second))
    assert records.faults == []
    assert records.scores["value"].to_list() == [5.0]
    assert spans_of_documents(records) == [(0, 3)]
    assert sum("repeated in another line" in note for note in records.notes) == n_again


def spans_of_documents(records: Whole) -> list[tuple[int, int]]:
    assert records.judgements.height == 1
    return records.ratings.select("span_start", "span_end").rows()


@together("task", ["task1_pred", "task2_pred"])
def test_two_predictions_of_one_output_are_refused(task: str, tmp_path: Path) -> None:
    one, other = (MINOR, []) if task == "task1_pred" else (5, 6)
    (fault,) = read_own(tmp_path / "pred.jsonl", item({task: one}) + item({task: other})).faults
    assert (fault.line, fault.expected) == (2, "one prediction per output")
    assert "another prediction of Ash for official_###_" in fault.found
    assert fault.found.endswith("than line 1")


def test_a_prediction_of_task_3_beside_one_of_task_2_is_counted(tmp_path: Path) -> None:
    records = read_own(tmp_path / "pred.jsonl", item({"task2_pred": 5, "task3_pred": True}))
    assert records.scores["value"].to_list() == [5.0]
    assert "1 prediction of another task not read: one of the same kind was read" in records.notes


def test_items_of_wmt26_name_their_language_pairs(tmp_path: Path) -> None:
    czech = "official_###_ces_Latn_###_deu_Latn_###_news_###_d_###_0"
    text = item({"task2_pred": 5}) + item({"task2_pred": 6}, czech)
    assert read_own(tmp_path / "pred.jsonl", text, lp=None).scores["lp"].to_list() == ["en-de", "cs-de"]
    (fault,) = read_own(tmp_path / "pred.jsonl", text).faults
    assert (fault.line, fault.found, fault.expected) == (2, "an item of cs-de", "en-de, as specified")


@together(
    ("place", "text", "expected"),
    [
        ((0, 3), "Ash", (0, 3)),
        ((3, 5), "1", (4, 5)),  # the place begins with a blank
        ((2, 5), "Ash", (0, 3)),  # elsewhere, and the text occurs once
        ((1, 2), "b", None),
    ],
)
def test_the_text_of_a_span_says_its_place_in_tables_and_lines(
    place: tuple[int, int], text: str, expected: tuple[int, int] | None, tmp_path: Path
) -> None:
    start, end = place
    table = f"system,segment,start,end,severity,text\nAsh,1,{start},{end},minor,{text}\nAsh,2,,,no-error,\n"
    span = {"start": start, "end": end, "severity": "minor", "text": text}
    for name, content in {"mine.csv": table, "pred.jsonl": item({"task1_pred": [span]})}.items():
        records = read_own(tmp_path / name, content)
        if expected is None:
            (fault,) = records.faults
            assert f"with the text {text!r}, but {'Ash 1'[start:end]!r} is at its offsets" in fault.found, name
            continue
        assert records.ratings.select("span_start", "span_end").rows() == [expected], name
        assert sum("moved to where their text is" in note for note in records.notes) == (place != expected), name


def test_a_column_with_whole_translations_is_no_text_of_spans(tmp_path: Path) -> None:
    table = "system,segment,start,end,severity,text\nAsh,1,0,3,minor,Ash 1\nAsh,2,4,5,minor,Ash 2\n"
    records = read_own(tmp_path / "mine.csv", table)
    assert sorted(records.ratings.select("span_start", "span_end").rows()) == [(0, 3), (4, 5)]
    assert not any("text" in note for note in records.notes)


def test_texts_of_spans_without_a_stored_translation_are_counted(tmp_path: Path) -> None:
    table = "system,segment,start,end,severity,text\nAsh,1,0,3,minor,Oak\n"
    records = read(ErrorSpanReader(), tmp_path / "gold.csv", table, LoadHints(testset=TESTSET, lp=LP, human="gold"))
    assert "1 error span whose text was not checked: the translation is not loaded" in records.notes


@pytest.mark.slow
def test_texts_of_spans_are_compared_with_those_of_the_warehouse(database: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("system,segment,start,end,severity,text\nAsh,1,3,5,minor,1\n")
    report = add([tmp_path / "mine.csv"], database, "Mine", testset=TESTSET, lp=LP)
    assert not report.faults
    assert spans_in(database) == {("Ash", 1): [(4, 5, "minor")]}
