"""What segment numbers count within: every reader whose rows name documents, both numberings, two documents."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.warehouse.readers.samples import MQM_HEADER
from warehouse import Warehouse, load
from warehouse.readers.claims import Given, Numbering

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
    (appraise_11, "lab.csv", "document"),
    (appraise_12, "lab.csv", "testset"),
    (mqm, "mqm_lab_ende.tsv", "testset"),
    (mqm_of_documents, "mqm_lab_ende.tsv", "document"),
    (own_table, "own.csv", "testset"),
]


def loaded(text: str, name: str, folder: Path, numbering: Numbering | None) -> list[tuple[str, int]] | str:
    """Documents and numbers of the segments in the order of the scores' values, or the fault."""
    path = folder / name
    path.write_text(text)
    given = Given(testset="lab", lp="en-de", numbering=numbering)
    report = load([path], folder / "w.duckdb", given=given)
    if report.faults:
        return str(report.faults[0])
    with Warehouse.open(folder / "w.duckdb") as warehouse:
        return warehouse.rows(
            """
            SELECT document, segment FROM (
                SELECT document, segment FROM human_scores
                UNION ALL SELECT document, segment FROM scores
            ) ORDER BY segment
            """
        )


@pytest.mark.parametrize(("form", "name", "stated"), FORMS, ids=[form.__name__ for form, _, _ in FORMS])
@pytest.mark.parametrize("places", [BY_DOCUMENT, BY_TESTSET], ids=["by document", "by test set"])
def test_two_segments_are_never_taken_for_one(
    form: Callable[[Places], str], name: str, stated: Numbering, places: Places, tmp_path: Path
) -> None:
    true: Numbering = "document" if places is BY_DOCUMENT else "testset"
    found = loaded(form(places), name, tmp_path, None)
    if stated == true:
        assert found == BY_TESTSET
    else:
        assert isinstance(found, str)
        assert f"numbering={true!r}" in found
        (tmp_path / "w.duckdb").unlink(missing_ok=True)
        assert loaded(form(places), name, tmp_path, true) == BY_TESTSET


def test_a_number_with_two_source_texts_is_refused_where_no_document_is_named(tmp_path: Path) -> None:
    found = loaded(mqm_without_documents(BY_DOCUMENT), "mqm_lab_ende.tsv", tmp_path, None)
    assert isinstance(found, str)
    assert "segment 1 has several source texts, and 1 more such segment" in found


@pytest.mark.parametrize("form", [submission_2021, submission_2025])
@pytest.mark.parametrize("places", [BY_DOCUMENT, BY_TESTSET], ids=["by document", "by test set"])
def test_submissions_are_of_either_numbering(form: Callable[[Places], str], places: Places, tmp_path: Path) -> None:
    path = tmp_path / "wmt22" / "M.seg.score"
    path.parent.mkdir()
    path.write_text(form(places))
    assert not load([path], tmp_path / "w.duckdb").faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        found = warehouse.rows("SELECT document, segment, value FROM scores ORDER BY value")
    assert found == [(*place, at / 10) for at, place in enumerate(BY_TESTSET)]


@pytest.mark.parametrize(
    ("form", "name", "number", "is_declared", "is_later"),
    [
        (appraise_11, "lab.csv", 2, True, False),
        (appraise_11, "lab.csv", 2, False, True),
        (appraise_11, "lab.csv", 3, True, False),
        (appraise_11, "lab.csv", 3, False, False),
        (mqm_of_documents, "mqm_lab_ende.tsv", 3, True, True),
        (mqm_of_documents, "mqm_lab_ende.tsv", 3, False, False),
        (human_2025, "lab.jsonl", 3, True, False),
        (human_2025, "lab.jsonl", 3, False, True),
    ],
)
def test_segments_beyond_the_end_of_their_document_are_told(
    form: Callable[[Places], str], name: str, number: int, is_declared: bool, is_later: bool, tmp_path: Path
) -> None:
    """Refused where the layout says where it ends, noted where other files do."""
    root = tmp_path / "lab"
    root.mkdir()
    if is_declared:
        (root / "documents").mkdir()
        (root / "documents" / "en-de.docs").write_text("".join(f"news\t{doc}\n" for doc, _ in BY_DOCUMENT))
        (root / "metric-scores" / "en-de").mkdir(parents=True)
        scores = "".join(f"Ash\t{at}\n" for at in range(len(BY_DOCUMENT)))
        (root / "metric-scores" / "en-de" / "BLEU-refA.seg.score").write_text(scores)
    else:
        (root / "M.tsv").write_text(submission_2025(BY_DOCUMENT))
    given = Given(testset="lab", lp="en-de")
    if is_later:
        assert not load([root], tmp_path / "w.duckdb", given=given).faults
    (root / name).write_text(form([*BY_DOCUMENT[:-1], ("news.1", number)] if number > 2 else BY_DOCUMENT))
    report = load([root], tmp_path / "w.duckdb", given=given)
    found = [fault.found for fault in report.faults] + [note for note in report.notes if " beyond the end" in note]
    if number == 2:
        assert found == []
    elif is_declared:
        assert found == ["segment 3 of document 'news.1'"]
    else:
        note = "1 document has segments beyond the end, such as 3 of 'news.1', with 2 elsewhere"
        assert found == [f"{root / name}: {note}"]
