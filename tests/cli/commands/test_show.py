"""One segment to read: as a table, as JSON and as CSV."""

import csv
import io
import re

from tests.cli.running import Scorehouse, refused
from tests.helpers import together

SHOW = ("show", "sim24", "en-de", "12", "--metrics", "Kestrel-24-*", "--systems", "Dogwood", "--systems", "Elm*")
COLUMNS = ["kind", "name", "mqm", "Kestrel-24-QE-src", "Kestrel-24-refA", "Kestrel-24-refB", "text"]


def test_a_table_has_source_references_and_outputs_with_their_scores(scorehouse: Scorehouse) -> None:
    ran = scorehouse(*SHOW)
    assert ran.code == 0
    header, _, *lines = ran.table
    assert re.split(r"  +", header) == COLUMNS
    assert [line.split()[:2] for line in lines] == [
        *(["source", "-"], ["reference", "refA"], ["reference", "refB"], ["output", "Elm-Big"], ["output", "Dogwood"])
    ]
    place, errors = ran.notes
    assert place.startswith("sim24 en-de, segment 12, document ")
    assert errors == "errors are those marked for mqm.merged"


def test_json_is_the_segment_with_its_texts_and_their_scores_as_the_views_have_them(scorehouse: Scorehouse) -> None:
    found = scorehouse(*SHOW, "--format", "json").json
    assert list(found) == ["testset", "lp", "segment", "domain", "document", "index_in_document", "texts", "summary"]
    (place,) = scorehouse(
        *(
            "sql",
            "SELECT domain, document, index_in_document FROM segments WHERE testset = $t AND lp = $l AND segment = 12",
        ),
        *("-p", "t", "sim24", "-p", "l", "en-de", "--format", "json"),
    ).json
    assert {name: found[name] for name in place} == place
    where = "WHERE testset = 'sim24' AND lp = 'en-de' AND segment = 12 AND system = 'Dogwood'"
    expected = {}
    for query in (
        f"SELECT human AS scorer, value FROM human_scores {where} AND human = 'mqm'",
        f"SELECT metric AS scorer, value FROM scores {where} AND metric LIKE 'Kestrel%'",
    ):
        expected |= {row["scorer"]: row["value"] for row in scorehouse("sql", query, "--format", "json").json}
    (dogwood,) = [text for text in found["texts"] if text["name"] == "Dogwood"]
    assert dogwood["scores"] == expected
    assert len(expected) == 4
    assert dogwood["text"] == found["texts"][4]["text"] != ""
    assert dogwood["errors"] != []
    for error in dogwood["errors"]:
        assert list(error) == ["rater", "category", "severity", "weight", "start", "end", "is_in_source", "metric"]


def test_errors_are_marked_in_tables_and_stand_beside_the_text_for_programs(scorehouse: Scorehouse) -> None:
    texts = scorehouse(*SHOW, "--format", "json").json["texts"]
    marked = [text for text in texts if text["errors"]]
    assert marked
    ran = scorehouse(*SHOW)
    assert ran.notes[1:] == ["errors are those marked for mqm.merged"]
    for text in marked:
        words = [text["text"][error["start"] : error["end"]] for error in text["errors"]]
        (line,) = [line for line in ran.table if f" {text['name']} " in line]
        for error, word in zip(text["errors"], words, strict=True):
            assert f"[{error['severity']}{' by ' + error['metric'] if error['metric'] else ''}: " in line
            assert word in line


def test_csv_has_a_row_a_text(scorehouse: Scorehouse) -> None:
    rows = list(csv.DictReader(io.StringIO(scorehouse(*SHOW, "--format", "csv").out)))
    assert list(rows[0]) == [*COLUMNS, "errors"]
    texts = scorehouse(*SHOW, "--format", "json").json["texts"]
    assert [row["text"] for row in rows] == [text["text"] for text in texts]
    assert float(rows[3]["Kestrel-24-refA"]) == texts[3]["scores"]["Kestrel-24-refA"]
    assert (rows[0]["name"], rows[0]["mqm"]) == ("", "")


@together(
    ("words", "hints"),
    [
        (("show", "sim24", "en-de", "99999"), ["unknown segment 99999 for sim24 en-de", "numbered 1 to"]),
        (("show", "sim24", "en-de"), ["show needs SEGMENT"]),
    ],
)
def test_a_wrong_question_is_one_line(words: tuple[str, ...], hints: list[str], scorehouse: Scorehouse) -> None:
    refused(scorehouse(*words), 2, *hints)
