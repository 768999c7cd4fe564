"""What segment numbers count within: every reader whose rows name documents, both numberings, two documents."""

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
