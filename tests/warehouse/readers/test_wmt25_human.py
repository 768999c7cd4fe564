import json
from datetime import datetime
from pathlib import Path

from tests.helpers import together
from tests.warehouse.readers.reading import answer as asked
from tests.warehouse.readers.reading import assert_no_row_fits, read
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.wmt25_human import Wmt25HumanReader
from warehouse.wording import option

PATH = Path("wmt25-general-mt/data/wmt25-genmt-humeval.jsonl")
READER = Wmt25HumanReader()
ITEM = "cs-de_DE_#_news_#_blesk.cz.112_#_0"


def segment(scores: object, item: object = ITEM) -> str:
    return json.dumps({"scores": scores, "src_text": "…", "tgt_text": {}, "doc_id": item}) + "\n"


def test_each_round_is_a_human_score_of_its_own() -> None:
    judged = {
        "human1": 90,
        "annotator1": "b309",
        "errors1": [{"start_i": 4, "end_i": 4, "severity": "minor"}],
        "times1": [1754000000.5, 1754000010.25],
        "human2": 95.5,
        "annotator2": "f702",
        "errors2": [],
    }
    records = read(READER, PATH, segment({"Yolu": judged}))
    assert records.faults == []
    assert records.scores_from_judgements
    assert records.judgements.to_dicts() == [
        {
            "line": 1,
            "testset": "wmt25",
            "lp": "cs-de_DE",
            "system": "Yolu",
            "domain": "news",
            "document": "blesk.cz.112",
            "index": 1,
            "segment": None,
            "judgement": number,
            "kind": "human",
            "scorer": f"esa-human{number}",
            "reference": None,
            "rater": rater,
            "item": ITEM,
            "value": value,
            "n": 1,
            "time": time,
            "status": "valid",
        }
        for number, rater, value, time in [
            (1, "b309", 90.0, datetime(2025, 7, 31, 22, 13, 30, 250000)),
            (2, "f702", 95.5, None),
        ]
    ]
    assert records.ratings.select("judgement", "severity", "span_start", "span_end").rows() == [(1, "minor", 4, 5)]


def test_segments_that_nobody_judged_are_counted() -> None:
    records = read(READER, PATH, segment({}) + segment({"A": {"human1": 5}}, ITEM.replace("_#_0", "_#_3")))
    assert records.judgements.select("line", "index", "value", "rater").rows() == [(2, 4, 5.0, None)]
    assert records.notes == ["1 judgement with 0 errors; 1 segment not judged"]


def test_a_segment_in_two_lines_is_counted_where_they_are_equal_and_refused_where_they_differ() -> None:
    line = segment({"A": {"human1": 5}})
    records = read(READER, PATH, line + segment({}, ITEM.replace("112", "7")) + line)
    assert records.judgements.select("line", "value").rows() == [(1, 5.0)]
    assert records.notes[1:] == ["1 repeated line, loaded once"]
    other = read(READER, PATH, line + segment({"A": {"human1": 6}}))
    assert [(fault.line, fault.found, fault.expected) for fault in other.faults] == [
        (2, f"doc_id '{ITEM}' with different content than on line 1", "each segment in one line")
    ]


def test_a_judgement_in_two_equal_lines_counts_once() -> None:
    one = {"langs": "en-es", "line_id": 5, "doc_id": "d", "system": "A", "esa_score": 90, "annotator": "a"}
    lines = [json.dumps(judged) + "\n" for judged in (one, one, one | {"annotator": "b"})]
    records = read(READER, Path("wmt24/wmt24_esa.jsonl"), "".join(lines))
    assert records.judgements["rater"].to_list() == ["a", "b"]
    assert records.notes[1:] == ["1 repeated line, loaded once"]


def test_control_segments_have_a_list_of_judgements() -> None:
    judged = [{"human": 90, "annotator": "a", "errors": []}, {"human": 70, "annotator": "b", "errors": []}]
    records = read(READER, PATH.with_name("wmt25-genmt-humeval_control.jsonl"), segment({"Yolu": judged}))
    found = records.judgements.select("scorer", "rater", "value").rows()
    assert found == [("esa-control", "a", 90.0), ("esa-control", "b", 70.0)]


def test_lists_of_judgements_have_scores_errors_annotators_and_times() -> None:
    error = {"start_i": 4, "end_i": 4, "severity": "minor"}
    judged = [
        {"score": 90, "annotator": "a", "errors": [error], "times": [1.0, 2.5]},
        {"score": 70.5, "annotator": "b", "errors": [], "times": []},
    ]
    records = read(READER, Path("wmt24/humeval.jsonl"), segment({"Yolu": judged}))
    assert records.faults == []
    found = records.judgements.select("scorer", "rater", "value", "time").rows()
    assert found == [("esa", "a", 90.0, datetime(1970, 1, 1, 0, 0, 2, 500000)), ("esa", "b", 70.5, None)]
    assert records.ratings.select("judgement", "severity", "span_start", "span_end").rows() == [(1, "minor", 4, 5)]


@together("judged", [{"rating": 90, "annotator": "a"}, [{"rating": 90, "annotator": "a"}], [{}]])
def test_a_judgement_whose_score_is_under_no_known_key_is_a_fault(judged: object) -> None:
    records = read(READER, PATH, segment({"Yolu": judged}))
    (fault,) = records.faults
    assert "a judgement of 'Yolu' with the keys" in fault.found
    assert fault.expected == "its score under score or human"


def test_the_claim_is_grouped_by_human_score() -> None:
    claim = asked(READER, PATH, segment({}).encode(), LoadHints())
    assert isinstance(claim, Claim)
    assert (claim.origin, claim.group) == ("wmt25/humeval/wmt25-genmt-humeval.jsonl", "wmt25/esa")


def test_a_line_that_does_not_fit_is_a_fault() -> None:
    rows = [
        (segment({"A": {"human1": "high"}}), "score 'high'"),
        (segment({"A": {"human1": ""}}), "score ''"),
        (segment({"A": {"human1": 1e999}}), "score inf"),
        (segment({"A": 5}), "scores of 'A'"),
        (segment({"A": [5]}), "scores of 'A'"),
        (segment(None), "no scores"),
        (segment({"A": {"human1": 1, "errors1": 5}}), "a judgement of 'A'"),
        (segment({"A": {"human1": 1, "annotator1": 5}}), "a judgement of 'A'"),
        (segment({"A": {"human1": 1, "errors1": [5]}}), "error span '5.0'"),
        (segment({"A": {"human1": 1, "errors1": [{"start_i": -1, "end_i": 2}]}}), "error"),
        (segment({}, "cs-de_DE"), "doc_id 'cs-de_DE'"),
        (segment({}, 5), "doc_id 5.0"),
        (segment({"A": {"human1": 1}}, ITEM.replace("cs-de_DE", "Czech")), "language pair 'Czech'"),
        ("{\n", "not a JSON object"),
    ]
    assert_no_row_fits(READER, PATH, segment({"A": {"human1": 1}}, ITEM.replace("_#_0", "_#_9")), rows)


def test_numbers_of_wmt23_begin_with_1_and_its_protocol_names_the_score() -> None:
    judged = [{"score": 90.0, "annotator": "a", "times": [1.0, 2.0], "protocol": "DA+SQM"}]
    text = "".join(
        segment({"A": judged}, f"en-de_#_news_#_{document}_#_{number}") for document in "ab" for number in (1, 2)
    )
    records = read(READER, Path("wmt23/wmt23-humaneval.jsonl"), text)
    assert records.faults == []
    found = records.judgements.select("lp", "document", "index", "segment", "scorer").rows()
    assert found == [("en-de", document, number, None, "da-sqm") for document in "ab" for number in (1, 2)]
    wrong = read(READER, Path("wmt23/wmt23-humaneval.jsonl"), segment({"A": judged}, "en-de_#_news_#_a_#_0"))
    assert [fault.found for fault in wrong.faults] == ["segment 0 of document 'a'"]


def test_documents_that_all_begin_with_1_contradict_numbers_from_0() -> None:
    text = "".join(segment({"A": {"human1": 5}}, f"cs-de_DE_#_news_#_{document}_#_1") for document in "ab")
    assert [fault.found for fault in read(READER, PATH, text).faults] == ["2 documents without segment 0"]


def test_lines_of_wmt24_are_counted_from_the_canary() -> None:
    """Line 0 is the canary; scores and times are texts in the first of these files."""
    judged = [{"score": "90", "annotator": "a", "errors": [], "times": ["1.0", "2.5"]}]
    text = segment({"A": judged}, "test-en-news_abc.1_#_5")
    path = Path("wmt24/wmt24-genmt-humeval.jsonl")
    records = read(READER, path, text, LoadHints(lp="en-de"))
    assert records.faults == []
    found = records.judgements.select("lp", "document", "index", "segment", "value", "time").rows()
    assert found == [("en-de", "test-en-news_abc.1", None, 6, 90.0, datetime(1970, 1, 1, 0, 0, 2, 500000))]
    asks = f"human evaluation of an unknown language pair; name it with {option('lp')} if the file has only one"
    assert asked(READER, path, text.encode(), LoadHints()) == asks


def test_lines_of_wmt24_of_another_source_than_the_user_says_are_faults() -> None:
    text = segment({"A": [{"score": 90}]}, "test-en-news_abc.1_#_5") + segment({"A": [{"score": 9}]}, "test-cs-a_#_5")
    (fault,) = read(READER, Path("wmt24/wmt24-genmt-humeval.jsonl"), text, LoadHints(lp="en-de")).faults
    assert (fault.line, fault.found) == (2, "document 'test-cs-a' of another source")


def test_wmt24_has_a_file_with_a_judgement_a_line() -> None:
    one = {
        "langs": "en-es",
        "line_id": 5,
        "src": "…",
        "tgt": "…",
        "doc_id": "test-en-news_abc.1",
        "domain": "news",
        "esa_spans": [{"start_i": 4, "end_i": 6, "severity": "minor", "error_type": None}],
        "esa_score": "90",
        "times": ["1.0", "2.5"],
        "system": "A",
        "annotator": "engspa1",
        "speech_info": None,
    }
    path = Path("wmt24/wmt24_esa.jsonl")
    records = read(READER, path, json.dumps(one) + "\n" + json.dumps(one | {"langs": "en-cs"}) + "\n")
    assert records.faults == []
    columns = ("lp", "domain", "document", "index", "segment", "system", "scorer", "rater", "value", "time")
    row = ("news", "test-en-news_abc.1", None, 6, "A", "esa", "engspa1", 90.0, datetime(1970, 1, 1, 0, 0, 2, 500000))
    assert records.judgements.select(columns).rows() == [("en-es", *row), ("en-cs", *row)]
    assert records.ratings.select("judgement", "severity", "span_start", "span_end").rows() == [
        (number, "minor", 4, 7) for number in (1, 2)
    ]
    (fault,) = read(READER, path, json.dumps(one | {"line_id": -1}) + "\n").faults
    assert fault.found == "line_id -1.0"
