"""What segment numbers count within: every reader whose rows name documents, both numberings, two documents."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import together
from tests.warehouse.readers.reading import read
from tests.warehouse.readers.samples import MQM_HEADER
from warehouse import Warehouse, load
from warehouse.names import Numbering
from warehouse.readers.claims import LoadHints
from warehouse.readers.mqm import MqmAnnotationsReader

# three documents of two segments each
BY_DOCUMENT = [(name, number) for name in ("news.1", "news.2", "talk.3") for number in (1, 2)]
BY_TESTSET = [(name, at) for at, (name, _) in enumerate(BY_DOCUMENT, start=1)]
Places = list[tuple[str, int]]


def appraise_11(places: Places) -> str:
    return "".join(f"u,Ash,{number},TGT,eng,deu,{at},{doc},False,1.0,2.0\n" for at, (doc, number) in enumerate(places))


def appraise_12(places: Places) -> str:
    return "".join(
        f"u,Ash,{number},TGT,eng,deu,{at},{doc},False,[],1.0,2.0\n" for at, (doc, number) in enumerate(places)
    )


def mqm(places: Places) -> str:
    rows = "".join(
        f"Ash\t{doc}\t1\t{number}\tr\tsource {at}\ttarget\tOther\tMinor\t\n" for at, (doc, number) in enumerate(places)
    )
    return MQM_HEADER + rows


def human_2025(places: Places) -> str:
    rows = [
        (f"en-de_#_news_#_{doc}_#_{number - 1}", {"Ash": {"human1": at}}) for at, (doc, number) in enumerate(places)
    ]
    return "".join(json.dumps({"doc_id": item, "scores": scores}) + "\n" for item, scores in rows)


def mqm_without_documents(places: Places) -> str:
    rows = "".join(f"Ash\t{number}\tr\tsource {at}\tOther\tMinor\n" for at, (_, number) in enumerate(places))
    return "system\tseg_id\trater\tsource\tcategory\tseverity\n" + rows


def mqm_of_documents(places: Places) -> str:
    """As bio-MQM has it: no number counts within the test set."""
    rows = "".join(
        f"Ash\t{doc}\t{number}\tr\tsource {at}\ttarget\tOther\tMinor\n" for at, (doc, number) in enumerate(places)
    )
    return "system\tdoc\tdocSegId\trater\tsource\ttarget\tcategory\tseverity\n" + rows


def submission_2021(places: Places) -> str:
    return "".join(
        f"M\ten-de\tgeneraltest2022\tnews\t{doc}\trefA\tAsh\t{number}\t0.{at}\n"
        for at, (doc, number) in enumerate(places)
    )


def submission_2025(places: Places) -> str:
    rows = "".join(
        f"{doc}\t{number}\ten\tde\tofficial\tAsh\tnews\tM\t0.{at}\n" for at, (doc, number) in enumerate(places)
    )
    header = "doc_id\tsegment_id\tsource_lang\ttarget_lang\tset_id\tsystem_id\tdomain_name\tmethod\toverall\n"
    return header + rows


def own_table(places: Places) -> str:
    rows = "".join(f"M,Ash,{doc},{number},0.{at}\n" for at, (doc, number) in enumerate(places))
    return "metric,system,document,segment,score\n" + rows


# form, name, numbering that the reader states
FORMS: list[tuple[Callable[[Places], str], str, Numbering]] = [
    (appraise_11, "wmt15/lab.csv", "document"),
    (appraise_12, "wmt16/lab.csv", "testset"),
    (mqm, "wmt17/mqm_lab_ende.tsv", "testset"),
    (mqm_of_documents, "wmt18/mqm_lab_ende.tsv", "document"),
    (own_table, "wmt19/own.csv", "testset"),
]
QUERY = """
    SELECT testset, list((document, segment) ORDER BY segment)
    FROM (
      SELECT testset, document, segment FROM human_scores
      UNION ALL
      SELECT testset, document, segment FROM scores
    )
    GROUP BY ALL
    """


@together("true", ["document", "testset"])
def test_two_segments_are_never_taken_for_one(true: Numbering, tmp_path: Path) -> None:
    folder, places = tmp_path / true, BY_DOCUMENT if true == "document" else BY_TESTSET
    for form, name, _ in FORMS:
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(form(places))
    report = load([folder], folder / "w.duckdb", given=LoadHints(lp="en-de"))
    assert {fault.path for fault in report.faults} == {
        str(folder / name) for _, name, stated in FORMS if stated != true
    }
    assert all(f"numbering={true!r}" in str(fault) for fault in report.faults)
    assert load([folder], folder / "w.duckdb", given=LoadHints(lp="en-de", numbering=true)).is_clean
    with Warehouse.open(folder / "w.duckdb") as warehouse:
        found = dict(warehouse.rows(QUERY))
    assert found == {Path(name).parts[0]: BY_TESTSET for _, name, _ in FORMS}


def test_a_number_with_two_source_texts_is_refused_where_no_document_is_named() -> None:
    text = mqm_without_documents(BY_DOCUMENT)
    (fault, *_) = read(MqmAnnotationsReader(), "mqm_lab_ende.tsv", text, LoadHints(testset="lab")).faults
    assert "segment 1 has several source texts, and 1 more such segment" in str(fault)


@pytest.mark.slow
def test_submissions_are_of_either_numbering(tmp_path: Path) -> None:
    (tmp_path / "wmt22").mkdir()
    pairs = ("en-de", "en-cs", "en-ja", "en-ru")
    forms = itertools.product((submission_2021, submission_2025), (BY_DOCUMENT, BY_TESTSET))
    for pair, (form, places) in zip(pairs, forms, strict=True):
        text = form(places).replace("en-de", pair).replace("en\tde", pair.replace("-", "\t"))
        (tmp_path / "wmt22" / f"{pair}.seg.score").write_text(text)
    assert not load([tmp_path], tmp_path / "w.duckdb").faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        found = warehouse.rows("SELECT lp, document, segment, value FROM scores ORDER BY ALL")
    assert found == [(pair, *place, at / 10) for pair in sorted(pairs) for at, place in enumerate(BY_TESTSET)]


# form, name, number of a third row of the first document, whether the layout declares segments and the file comes later
BEYOND: dict[str, tuple[Callable[[Places], str], str, int, bool, bool]] = {
    "wmt12": (appraise_11, "lab.csv", 2, True, False),
    "wmt13": (appraise_11, "lab.csv", 2, False, True),
    "wmt14": (appraise_11, "lab.csv", 3, True, False),
    "wmt15": (appraise_11, "lab.csv", 3, False, False),
    "wmt16": (mqm_of_documents, "mqm_lab_ende.tsv", 3, True, True),
    "wmt17": (mqm_of_documents, "mqm_lab_ende.tsv", 3, False, False),
    "wmt25": (human_2025, "lab.jsonl", 3, True, False),
    "wmt26": (human_2025, "lab.jsonl", 3, False, True),
}


@pytest.mark.slow
def test_segments_beyond_the_end_of_their_document_are_told(tmp_path: Path) -> None:
    """Refused where the layout says where it ends, noted where other files do."""
    texts = {}
    for testset, (form, name, number, is_declared, _) in BEYOND.items():
        root = tmp_path / testset
        if is_declared:
            (root / "documents").mkdir(parents=True)
            (root / "documents" / "en-de.docs").write_text("".join(f"news\t{doc}\n" for doc, _ in BY_DOCUMENT))
            (root / "metric-scores" / "en-de").mkdir(parents=True)
            scores = "".join(f"Ash\t{at}\n" for at in range(len(BY_DOCUMENT)))
            (root / "metric-scores" / "en-de" / "BLEU-refA.seg.score").write_text(scores)
        else:
            root.mkdir()
            (root / "M.seg.tsv").write_text(submission_2025(BY_DOCUMENT))
        texts[root / name] = form([*BY_DOCUMENT[:-1], ("news.1", number)] if number > 2 else BY_DOCUMENT)
    given = LoadHints(lp="en-de")
    for path, text in texts.items():
        if not BEYOND[path.parent.name][-1]:
            path.write_text(text)
    reports = [load([tmp_path], tmp_path / "w.duckdb", given=given)]
    for path, text in texts.items():
        path.write_text(text)
    reports.append(load([tmp_path], tmp_path / "w.duckdb", given=given))
    for path in texts:
        *_, number, is_declared, is_later = BEYOND[path.parent.name]
        report = reports[is_later]
        found = [fault.found for fault in report.faults if fault.path == str(path)]
        found += [note for note in report.notes if note.startswith(f"{path}: ") and " beyond the end" in note]
        note = f"{path}: 1 document has segments beyond the end, such as 3 of 'news.1', with 2 elsewhere"
        assert found == ([] if number == 2 else ["segment 3 of document 'news.1'"] if is_declared else [note]), path
