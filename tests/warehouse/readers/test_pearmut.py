"""Annotations of Pearmut, as its server exports them."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import together
from tests.warehouse.readers.reading import answer as asked
from tests.warehouse.readers.reading import read
from warehouse import Warehouse, load
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.pearmut import PearmutReader
from warehouse.wording import option

READER = PearmutReader()
PATH = Path("wmt26-general-mt/humeval/annotations.json")
CAMPAIGN = "eng_Latn---ces_Latn v3"
NEWS = "news_###_newrepublic.com.18633_###_{}"


def entry(
    scores: dict[str, Any] | list[dict[str, Any] | None], item: object = 0, user: str = "u1", **more: Any
) -> dict[str, Any]:
    """One user's answer: for each segment the score, or the whole judgement, of each system."""
    judged = [
        None
        if one is None
        else {name: value if isinstance(value, dict) else judgement(value) for name, value in one.items()}
        for one in (scores if isinstance(scores, list) else [scores])
    ]
    items = [
        {"item_id": NEWS.format(at), "src": "…", "tgt": dict.fromkeys(one or (), "…")} for at, one in enumerate(judged)
    ]
    actions = [{"time": 1.0, "action": "load"}, {"time": 1771315377.5, "action": "submit"}]
    return {"annotation": judged, "actions": actions, "item": items, "user_id": user, "item_i": item} | more


def judgement(score: object, *spans: tuple[object, object, str]) -> dict[str, Any]:
    errors = [
        {"start_i": start, "end_i": end, "severity": severity, "category": None} for start, end, severity in spans
    ]
    return {"score": score, "error_spans": errors, "textfield": None}


def reset(item: object = 0, user: str = "u1") -> dict[str, Any]:
    return {"annotation": "__RESET__", "user_id": user, "item_i": item}


def document(*entries: dict[str, Any], campaign: str = CAMPAIGN) -> str:
    return json.dumps({campaign: list(entries)})


def test_an_entry_has_a_judgement_for_each_segment_and_system() -> None:
    first = {"A": judgement(87, (4, 6, "minor"), ("missing", "missing", "major")), "B": 40}
    records = read(READER, PATH, document(entry([first, {"A": 90.5}])))
    assert records.faults == []
    columns = ("testset", "lp", "domain", "document", "index", "system", "scorer", "rater", "value", "status")
    place = ("wmt26", "en-cs", "news", "newrepublic.com.18633")
    assert records.judgements.select(columns).rows() == [
        (*place, 1, "A", "esa", "u1", 87.0, "valid"),
        (*place, 1, "B", "esa", "u1", 40.0, "valid"),
        (*place, 2, "A", "esa", "u1", 90.5, "valid"),
    ]
    assert records.judgements["time"].unique().to_list() == [datetime(2026, 2, 17, 8, 2, 57, 500000)]
    found = records.ratings.select("judgement", "severity", "span_start", "span_end").rows()
    assert found == [(1, "minor", 4, 7), (1, "major", None, None)]
    assert records.notes == ["3 judgements with 2 errors"]


def test_a_reset_cancels_what_the_user_had_answered_of_that_item() -> None:
    others = [entry({"A": 1}, item=1), entry({"A": 2}, user="u2")]
    records = read(READER, PATH, document(entry({"A": 99}), *others, reset(), entry({"A": 3})))
    assert sorted(records.judgements.select("rater", "value").rows()) == [("u1", 1.0), ("u1", 3.0), ("u2", 2.0)]
    assert records.notes == ["3 judgements with 0 errors, 1 cancelled answers not read"]


def test_the_later_of_two_answers_of_a_user_counts() -> None:
    records = read(READER, PATH, document(entry({"A": 10, "B": 20}), entry({"A": 30})))
    found = records.judgements.select("system", "value", "status").rows()
    assert found == [("A", 10.0, "superseded"), ("B", 20.0, "valid"), ("A", 30.0, "valid")]


def test_what_is_none_of_the_test_set_is_counted() -> None:
    form = entry({"A": 1}, "welcome_1") | {"item": [{"text": "Age?", "form": "number"}]}
    check = entry({"A": 1}, 7)
    check["item"][0]["item_id"] = "attention_check_3"
    tutorial = entry({"A": 1}, 8)
    tutorial["item"][0]["item_id"] = "en-cs_#_tutorial_#_ESA_#_1"
    entries = (
        entry({"A": 1}, "welcome_0"),
        form,
        entry({"A": 1}, "random_0"),
        entry({"A": 1}, "goodbye_0"),
        check,
        tutorial,
    )
    records = read(READER, PATH, document(*entries, entry([{"A": 5}, None])))
    assert records.faults == []
    assert records.judgements["value"].to_list() == [5.0]
    assert records.notes == ["1 judgement with 0 errors, 2 attention checks not read, 4 tutorials and forms not read"]


def test_a_skipped_segment_has_no_score() -> None:
    records = read(READER, PATH, document(entry({"A": None, "B": 5})))
    assert records.judgements["value"].to_list() == [None, 5.0]


@together(
    ("campaign", "item", "given", "place"),
    [
        ("wmt25_#_en-cs_CZ", "cs-de_DE_#_edu_#_edu02178_#_0", LoadHints(), ("cs-de_DE", "edu", "edu02178", 1)),
        ("wmt25_#_en-cs_CZ", "my item", LoadHints(), ("en-cs_CZ", None, "my item", 1)),
        (
            "eng_Latn---zho_Hant_TW v3",
            NEWS.format(4),
            LoadHints(),
            ("en-zh_Hant_TW", "news", "newrepublic.com.18633", 5),
        ),
        ("mine", "d_###_2", LoadHints(lp="en-cs"), ("en-cs", None, "d", 3)),
    ],
)
def test_the_place_is_in_the_names_of_campaign_and_item(
    campaign: str, item: str, given: LoadHints, place: tuple[str | None, ...]
) -> None:
    one = entry({"A": 5})
    one["item"][0]["item_id"] = item
    records = read(READER, PATH, document(one, campaign=campaign), given)
    assert records.faults == []
    assert records.judgements.select("lp", "domain", "document", "index").rows() == [place]


@together(
    ("text", "found"),
    [
        (document(entry({"A": {"points": 3}})), "a judgement of 'A' with points"),
        (document(entry({"A": "good"})), "score 'good'"),
        (document(entry({"A": 10**400})), "score 1000"),
        (document(entry({"A": judgement(3, ("x", 2, "minor"))})), "error "),
        (document(entry([{"A": 3}, {"A": 4}]) | {"item": []}), "annotations of segments that the item does not have"),
        (document(entry({"A": 3}), {"annotation": []}), "an entry with annotation"),
        (document(entry({"A": 3}), campaign="mine"), "a campaign name without a language pair"),
        (document(entry({"A": 3}))[:-1], "not a JSON document"),
        (document(entry({"A": 3}))[:-1] + ', "x": 3}', "campaign 'x': no list"),
    ],
)
def test_what_does_not_fit_is_a_fault(text: str, found: str) -> None:
    (fault,) = read(READER, PATH, text).faults
    assert found in fault.found


def test_other_json_is_left_to_others() -> None:
    for text in (
        "",
        "{}",
        "[]",
        '{"a": [1]}',
        '{"hyp.txt": [{"src": "a", "mt": "b", "COMET": 1}]}',
        '{"annotation": 1}\n',
    ):
        assert asked(READER, PATH, text.encode(), LoadHints()) is None
    asks = f"human evaluation of an unknown test set; name it with {option('testset')}"
    assert asked(READER, Path("annotations.json"), document(entry({"A": 1})).encode(), LoadHints()) == asks
    found = asked(READER, Path("a.json"), document(entry({"A": 1}), campaign="wmt25_#_en-cs").encode(), LoadHints())
    assert isinstance(found, Claim)
    assert found.testset == "wmt25"


@pytest.mark.slow
def test_a_load_brings_scores_judgements_and_errors(tmp_path: Path) -> None:
    (tmp_path / "wmt26").mkdir()
    entries = [entry({"A": judgement(80, (0, 3, "minor")), "B": 40}), entry({"A": 60}, user="u2")]
    (tmp_path / "wmt26" / "annotations.json").write_text(document(*entries))
    report = load([tmp_path / "wmt26"], tmp_path / "w.duckdb")
    assert report.is_clean, report.faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        query = "SELECT testset, lp, system, document, value FROM human_scores ORDER BY ALL"
        place = ("wmt26", "en-cs"), "newrepublic.com.18633"
        assert warehouse.rows(query) == [(*place[0], "A", place[1], 70.0), (*place[0], "B", place[1], 40.0)]
        assert warehouse.rows("SELECT count(*) FROM judgements") == [(3,)]
        assert warehouse.rows("SELECT count(*) FROM spans") == [(1,)]


def test_the_log_of_one_campaign_is_read_as_the_export_is() -> None:
    entries = [entry({"A": 99}), entry([{"A": 1}, {"A": 2}], user="u2"), reset(), entry({"A": 3}), entry({"A": 4})]
    log = "".join(json.dumps(one) + "\n" for one in entries)
    found = read(READER, Path("wmt26", f"{CAMPAIGN}.jsonl"), log)
    whole = read(READER, PATH, document(*entries))
    assert found.faults == []
    assert found.judgements.equals(whole.judgements)
    assert found.ratings.equals(whole.ratings)
    assert found.notes == whole.notes


def test_a_log_names_the_line_that_is_cut() -> None:
    log = json.dumps(entry({"A": 1})) + "\n" + json.dumps(entry({"A": 2}))[:80]
    (fault,) = read(READER, Path("wmt26", f"{CAMPAIGN}.jsonl"), log).faults
    assert (fault.line, fault.expected) == (2, "one JSON object per line")
