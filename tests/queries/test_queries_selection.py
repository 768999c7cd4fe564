"""Slices: who takes part by default, who does not and why, and what is no slice."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from queries.evalsets import expand, reference, without_grades
from queries.longitudinal import evalset_states
from queries.selection import Level, Selection, select
from queries.slices import Slice
from tests.helpers import LP, MQM, SYSTEMS, TESTSET, metric_tables, mqm_table, tiny_layout, tiny_warehouse
from warehouse import QuestionError, Warehouse, load
from warehouse.database import connection
from warehouse.database.connection import _N_KEPT
from warehouse.export.mtme import ScoreTable
from warehouse.wording import option


def _systems(selection: Selection) -> dict[str, str | None]:
    return {choice.name: choice.reason and str(choice.reason) for choice in selection.systems}


def _metrics(selection: Selection) -> dict[str, str | None]:
    return {choice.name: choice.reason and str(choice.reason) for choice in selection.metrics}


def _out(selection: Selection) -> dict[str, str | None]:
    return {name: reason for name, reason in _metrics(selection).items() if reason is not None}


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """The tiny task with a metric for two systems, one by a user, one that was no entry, and a human translation."""
    folder = tmp_path_factory.mktemp("varied")
    systems = (*SYSTEMS, "refB")
    seg = np.array([*MQM, (0.0, -1.0, 0.0, np.nan, -1.0)])
    metrics = {
        **metric_tables(),
        "Part-src": ScoreTable(systems=SYSTEMS[:2], seg=np.ones((2, 5)), sys=np.ones(2)),
        "Mine-src": ScoreTable(systems=systems, seg=np.arange(25.0).reshape(5, 5)),
        "Guest-src": ScoreTable(systems=systems, seg=np.arange(25.0).reshape(5, 5)),
        "Rough-refB": ScoreTable(systems=SYSTEMS, seg=np.arange(20.0).reshape(4, 5)),
    }
    layout = tiny_layout(
        folder / "layout",
        systems=systems,
        humans={"mqm": ScoreTable(systems=systems, seg=seg), "esa": mqm_table()},
        metrics=metrics,
    )
    tiny_warehouse(folder, layout).close()
    with duckdb.connect(str(folder / "tiny.duckdb")) as connection:
        entry = (
            "UPDATE internal.entry SET {} WHERE scorer_id = (SELECT scorer_id FROM internal.scorer WHERE name = '{}')"
        )
        connection.execute(entry.format("is_own = true", "Mine-src"))
        connection.execute(entry.format("status = 'no entry'", "Guest-src"))
        connection.execute("UPDATE internal.system SET is_outlier = true WHERE name = 'Cherry'")
    with Warehouse.open(folder / "tiny.duckdb") as warehouse:
        yield warehouse


LACKING: dict[str, dict[str, Any]] = {
    "two_humans": {"humans": {"mqm": mqm_table(), "esa": mqm_table()}, "facts": False},
    "without_facts": {"facts": False},
    "two_references": {"metrics": {**metric_tables(), "Rough-refB": metric_tables()["Rough-refA"]}, "facts": False},
    "other_humans": {"humans": {"da": mqm_table(), "esa": mqm_table()}},
    "only_human": {"humans": {"esa": mqm_table()}},
    "only_human_without_facts": {"humans": {"esa": mqm_table()}, "facts": False},
    "without_humans": {"humans": {}},
}
"""Test sets without something that is official, as `tiny_layout` makes them."""


@pytest.fixture(scope="module")
def lacking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("lacking")
    layouts = [tiny_layout(folder / "in", testset=testset, **given) for testset, given in LACKING.items()]
    with tiny_warehouse(folder, *layouts) as warehouse:
        yield warehouse


def test_by_default_systems_that_humans_judged_take_part_and_the_reference_does_not(tiny: Warehouse) -> None:
    selection = select(tiny, Slice(TESTSET, LP))
    assert (selection.human, selection.reference) == ("mqm", "refA")
    assert _systems(selection) == {
        "Ash": None,
        "Beech": None,
        "Cherry": None,
        "refA": "the reference that the metrics use",
    }
    assert _out(selection) == {}
    assert selection.segments == (1, 2, 3, 4, 5)
    assert selection.domains == ("news", "news", "news", "speech", "speech")
    assert selection.documents == ("n1", "n1", "n2", "s1", "s1")
    assert selection.n_segments == 5


@pytest.mark.slow
def test_everything_is_in_the_order_of_names(varied: Warehouse) -> None:
    selection = select(varied, Slice(TESTSET, LP))
    assert list(_systems(selection)) == sorted(_systems(selection))
    assert list(_metrics(selection)) == sorted(_metrics(selection))


@pytest.mark.slow
def test_every_system_that_is_left_out_has_a_reason(varied: Warehouse) -> None:
    assert _systems(select(varied, Slice(TESTSET, LP))) == {
        "Ash": None,
        "Beech": None,
        "Cherry": f"on the organisers' list of outliers ({option('with_outliers', True)} keeps it)",
        "refA": "the reference that the metrics use",
        "refB": f"a human translation (included by {option('human_references', True)})",
    }
    assert _systems(select(varied, Slice(TESTSET, LP, systems=("B*", "refB"), human_references=True))) == {
        "Ash": "not selected",
        "Beech": None,
        "Cherry": "not selected",
        "refA": "not selected",
        "refB": None,
    }
    assert _systems(select(varied, Slice(TESTSET, LP, human="esa", human_references=True)))["refB"] == (
        "not judged by esa"
    )


def test_outliers_and_human_references_come_in_when_asked_for(varied: Warehouse) -> None:
    chosen = _systems(select(varied, Slice(TESTSET, LP, with_outliers=True, human_references=True)))
    assert {name for name, reason in chosen.items() if reason is None} == {"Ash", "Beech", "Cherry", "refB"}


REASONS: list[tuple[dict[str, Any], str, str | None]] = [
    ({}, "Rough-refB", "computed with refB, not with reference refA"),
    ({}, "Mine-src", f"added by a user (included by {option('user_metrics', True)})"),
    ({}, "Guest-src", f"not submitted to the metrics task (included by {option('status', 'all')})"),
    ({"with_outliers": True}, "Part-src", "no scores for the output of Cherry"),
    ({"human_references": True, "with_outliers": True}, "Part-src", "no scores for the output of Cherry, refB"),
    ({"human_references": True}, "Fine-src", "no scores for the output of refB"),
    ({"metrics": ("Fine",)}, "Flat-src", "not selected"),
    ({"kind": "reference-based"}, "Fine-src", "reference-free"),
    ({"kind": "reference-free"}, "Rough-refA", "reference-based"),
    ({"status": "primary"}, "Wrong-src", "contrastive, neither primary nor baseline"),
    ({}, "Fine-src", None),
    ({}, "Part-src", None),  # it has the two systems that are left
    ({"user_metrics": True}, "Mine-src", None),
    ({"metrics": ("Mine-src",)}, "Mine-src", None),
    ({"metrics": ("Guest-src",)}, "Guest-src", None),
    ({"metrics": ("Rough-refB",)}, "Rough-refB", None),
    ({"reference": "refB"}, "Rough-refB", None),
    ({"kind": "reference-based"}, "Rough-refA", None),
    ({"status": "primary"}, "Flat-src", None),
    ({"intersection": True, "with_outliers": True}, "Part-src", None),
]
"""What is asked of a metric, and why it is excluded; None where it comes in."""


def test_every_metric_that_is_left_out_has_a_reason_and_others_come_in(varied: Warehouse) -> None:
    found = [(asked, name, _metrics(select(varied, Slice(TESTSET, LP, **asked)))[name]) for asked, name, _ in REASONS]
    assert found == REASONS


def test_patterns_are_those_of_the_shell_and_meet_full_and_base_names(tiny: Warehouse) -> None:
    def chosen(*patterns: str) -> list[str]:
        return [choice.name for choice in select(tiny, Slice(TESTSET, LP, metrics=patterns)).chosen_metrics]

    assert chosen("F*") == ["Fine-src", "Flat-src"]
    assert chosen("*-refA", "Fine") == ["Fine-src", "Rough-refA"]
    assert chosen("[!FW]*") == ["Only-src", "Rough-refA"]


@pytest.mark.parametrize(
    ("asked", "segments"),
    [
        ({"domain": ("news",)}, (1, 2, 3)),
        ({"domain": ("s*", "n*")}, (1, 2, 3, 4, 5)),
        ({"document": ("n1",)}, (1, 2)),
        ({"segments": "2-4"}, (2, 3, 4)),
        ({"domain": ("news",), "segments": "3-9"}, (3,)),
    ],
)
def test_segments_are_chosen_by_domain_document_and_number(
    asked: dict[str, Any], segments: tuple[int, ...], tiny: Warehouse
) -> None:
    asked_slice = Slice(TESTSET, LP, **asked)
    assert select(tiny, asked_slice).segments == segments
    assert not asked_slice.is_whole


@pytest.mark.parametrize(
    ("testset", "lp", "asked", "message"),
    [
        ("tiny42", LP, {}, "unknown test set 'tiny42'; did you mean 'tiny24'?"),
        (TESTSET, "de-en", {}, "unknown language pair 'de-en' for tiny24; available: en-de"),
        (TESTSET, LP, {"human": "mqn"}, "unknown human score 'mqn' for tiny24 en-de; did you mean 'mqm'?"),
        (TESTSET, LP, {"reference": "refX"}, "unknown reference 'refX' for tiny24 en-de; did you mean 'refA'?"),
        (TESTSET, LP, {"systems": ("Ahs",)}, "unknown system 'Ahs' for tiny24 en-de; did you mean 'Ash'?"),
        (
            TESTSET,
            LP,
            {"metrics": ("Fin", "Fine-src", "Roug-src")},
            "unknown metric 'Fin' for tiny24 en-de; did you mean 'Fine-src'?; unknown metric 'Roug-src'",
        ),
        (TESTSET, LP, {"metrics": ("Fin",)}, "unknown metric 'Fin' for tiny24 en-de; did you mean 'Fine-src'?"),
        (TESTSET, LP, {"domain": ("new",)}, "unknown domain 'new' for tiny24 en-de; did you mean 'news'?"),
        (TESTSET, LP, {"document": ("x9",)}, "unknown document 'x9' for tiny24 en-de; available: n1, n2, s1"),
        (TESTSET, LP, {"segments": "6-9"}, "no segment of tiny24 en-de"),
        (TESTSET, LP, {"systems": ("refA",)}, "no system of tiny24 en-de remains"),
    ],
)
def test_a_slice_that_there_is_not_is_reported_with_the_nearest_names(
    testset: str, lp: str, asked: dict[str, Any], message: str, tiny: Warehouse
) -> None:
    with pytest.raises(QuestionError) as raised:
        select(tiny, Slice(testset, lp, **asked))
    assert message in str(raised.value)


@pytest.mark.parametrize(("last", "said"), [(5, []), (6, ["there is no segment 6: the last is 5"])])
def test_segments_behind_the_last_one_are_said(last: int, said: list[str], tiny: Warehouse) -> None:
    assert list(select(tiny, Slice(TESTSET, LP, segments=f"2-{last}")).notes) == said


@pytest.mark.slow
def test_without_an_official_human_score_one_of_several_must_be_named(lacking: Warehouse) -> None:
    with pytest.raises(QuestionError, match="no official human score; name one with human; available: esa, mqm"):
        select(lacking, Slice("two_humans", LP))
    assert select(lacking, Slice("two_humans", LP, human="mqm")).human == "mqm"


@pytest.mark.slow
def test_the_only_reference_stands_in_for_an_official_one_with_a_note(lacking: Warehouse) -> None:
    found = select(lacking, Slice("without_facts", LP, human="mqm"))
    assert found.reference == "refA"
    assert found.notes == ("without_facts en-de has no official reference; using refA, the only one available",)
    assert "Rough-refA" not in _out(found)
    assert select(lacking, Slice("without_facts", LP, human="mqm", reference="refA")).notes == ()


def test_a_reference_is_one_of_the_evaluation_set_whatever_others_have() -> None:
    with pytest.raises(QuestionError, match="unknown reference 'refP' for wmt23 en-de; did you mean 'refA'"):
        reference("wmt23 en-de", "refP", "refA", {"refA"}, ["refB"])
    assert [reference("w", named, "refA", {"refA"}, ["refB"]) for named in ("refA", "refB")] == [
        ("refA", ()),
        ("refB", ()),
    ]


def test_without_an_official_reference_one_of_several_must_be_named(lacking: Warehouse) -> None:
    found = select(lacking, Slice("two_references", LP, human="mqm"))
    assert found.reference is None
    assert found.notes == (
        "two_references en-de has no official reference, so reference-based metrics are excluded; name one with "
        f"{option('reference')}; available: refA, refB",
    )
    assert {name: reason for name, reason in _out(found).items() if name.startswith("Rough")} == {
        f"Rough-{name}": f"computed with {name}; no reference is official" for name in ("refA", "refB")
    }
    assert "Rough-refB" not in _out(select(lacking, Slice("two_references", LP, human="mqm", reference="refB")))


def test_an_official_human_score_that_is_not_loaded_is_said_to_be_so(lacking: Warehouse) -> None:
    message = "the official human score 'mqm' of other_humans en-de is not loaded; name one with human; available: "
    for level in ("seg", "sys"):
        with pytest.raises(QuestionError, match=f"^{message}da, esa$"):
            select(lacking, Slice("other_humans", LP), level)
    with pytest.raises(QuestionError, match=r"has an official human score that is loaded; .* available: da, esa$"):
        expand(lacking, "other_humans", "all")
    with pytest.raises(QuestionError, match="unknown human score 'mqn'"):
        select(lacking, Slice("other_humans", LP, human="mqn"))
    assert select(lacking, Slice("other_humans", LP, human="esa")).human == "esa"


@pytest.mark.parametrize("level", ["seg", "sys"])
@pytest.mark.parametrize("testset", ["only_human", "only_human_without_facts"])
def test_the_only_human_score_stands_in_for_an_official_one_with_a_note(
    testset: str, level: Level, lacking: Warehouse
) -> None:
    found = select(lacking, Slice(testset, LP), level)
    assert found.human == "esa"
    of_human, *of_reference = found.notes
    assert of_human.endswith("; using esa, the only one available")
    assert list(select(lacking, Slice(testset, LP, human="esa"), level).notes) == of_reference
    assert expand(lacking, testset, "all").chosen == ((testset, LP),)


@pytest.mark.parametrize("named", ["Mine-src", "Mine", "Guest-src", "Guest", "Rough-refB"])
def test_a_metric_that_is_named_exactly_is_included_whatever_its_status(varied: Warehouse, named: str) -> None:
    for primary in (False, True):
        found = select(varied, Slice(TESTSET, LP, metrics=(named,), status="primary" if primary else "official"))
        assert [choice.name for choice in found.chosen_metrics if named in (choice.name, choice.base_name)]


def test_all_metrics_are_those_not_submitted_too(varied: Warehouse) -> None:
    usual = _metrics(select(varied, Slice(TESTSET, LP)))
    everyone = _metrics(select(varied, Slice(TESTSET, LP, status="all")))
    assert {name for name in usual if usual[name] != everyone[name]} == {"Guest-src"}
    assert everyone["Guest-src"] is None


def test_where_no_human_score_is_loaded_none_is_offered(lacking: Warehouse) -> None:
    with pytest.raises(QuestionError, match=r"'mqm' of without_humans en-de is not loaded; no human score is loaded$"):
        select(lacking, Slice("without_humans", LP))
    with pytest.raises(QuestionError, match=r"official human score that is loaded; no human score is loaded$"):
        expand(lacking, "without_humans", "all")


def test_without_human_scores_the_pairs_of_the_test_set_that_can_be_ranked_are_offered(tmp_path: Path) -> None:
    table = ScoreTable(("A", "B"), seg=np.array([[1.0, 2.0], [0.0, 1.0]]), sys=np.array([1.5, 0.5]))
    more: dict[str, Any] = {"systems": table.systems, "metrics": {"Fine-src": table}, "texts": False}
    more["documents"] = [("news", "1"), ("news", "2")]
    tiny_layout(tmp_path, humans={"mqm": table}, **more)
    tiny_layout(tmp_path, lp="en-cs", humans={}, **more)
    load([tmp_path], tmp_path / "a.duckdb")
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        for human in (None, "mqm"):
            with pytest.raises(QuestionError, match=r" is loaded \(tiny24 has metric and human scores of en-de\)$"):
                select(warehouse, Slice("tiny24", "en-cs", human=human))


def test_without_grades_the_challenge_sets_that_can_be_ranked_are_offered(tmp_path: Path) -> None:
    table = ScoreTable(("A", "B"), seg=np.array([[1.0, 2.0], [0.0, 1.0]]), sys=np.array([1.5, 0.5]))
    more: dict[str, Any] = {"systems": table.systems, "documents": [("news", "1"), ("news", "2")], "texts": False}
    tiny_layout(tmp_path, testset="graded", humans={"grade": table}, metrics={"Fine-src": table}, **more)
    tiny_layout(tmp_path, testset="unscored", humans={"grade": table}, metrics={}, **more)
    load([tmp_path], tmp_path / "a.duckdb")
    with Warehouse.open(tmp_path / "a.duckdb") as warehouse:
        assert without_grades(warehouse, "mine").hint == "with grades and metrics: graded"


def test_the_official_human_score_may_differ_between_levels(simulated_warehouse: Warehouse) -> None:
    assert select(simulated_warehouse, Slice("sim21", "en-de"), "seg").human == "wmt-raw"
    assert select(simulated_warehouse, Slice("sim21", "en-de"), "sys").human == "wmt-z"


def test_outliers_of_the_organisers_list_are_out_by_default(simulated_warehouse: Warehouse) -> None:
    assert "outlier" in str(_systems(select(simulated_warehouse, Slice("sim22", "cs-uk")))["Thistle-0shot"])
    kept = select(simulated_warehouse, Slice("sim22", "cs-uk", with_outliers=True))
    assert _systems(kept)["Thistle-0shot"] is None


def test_real_english_german_has_twelve_systems_without_the_outlier(wmt23_warehouse: Warehouse) -> None:
    selection = select(wmt23_warehouse, Slice("wmt23", "en-de"))
    assert (selection.human, selection.reference, selection.n_segments) == ("mqm", "refA", 557)
    assert len(selection.chosen_systems) == 12
    assert not {"refA", "synthetic_ref"} & {choice.name for choice in selection.chosen_systems}
    assert sum(choice.has_segments for choice in selection.chosen_metrics) == 43


def test_real_hebrew_english_ranks_the_extra_reference(wmt23_warehouse: Warehouse) -> None:
    selection = select(wmt23_warehouse, Slice("wmt23", "he-en"))
    assert (selection.human, selection.reference, selection.n_segments) == ("mqm", "refB", 1910)
    names = {choice.name for choice in selection.chosen_systems}
    assert len(names) == 13
    assert "refA" in names
    assert "refB" not in names
    assert sum(choice.has_segments for choice in selection.chosen_metrics) == 43


def test_what_an_evaluation_set_has_is_asked_once_for_all_its_slices(
    varied: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    rows, sql = Warehouse.rows, Warehouse.sql
    monkeypatch.setattr(Warehouse, "rows", lambda *given: (asked.append(given[1]), rows(*given))[1])
    monkeypatch.setattr(Warehouse, "sql", lambda *given: (asked.append(given[1]), sql(*given))[1])
    with Warehouse.open(varied.path) as warehouse:
        first = select(warehouse, Slice(TESTSET, LP))
        n_asked = len(asked)
        assert n_asked > 3
        narrowed = select(warehouse, Slice(TESTSET, LP, metrics=("Fine",), systems=("Ash", "Beech")), "sys")
        assert select(warehouse, Slice(TESTSET, LP)) == first
        assert len(asked) == n_asked
    assert narrowed == select(varied, Slice(TESTSET, LP, metrics=("Fine",), systems=("Ash", "Beech")), "sys")


def test_the_last_answers_are_kept_and_earlier_ones_asked_again(varied: Warehouse) -> None:
    asked: list[int] = []

    def answer(number: int) -> int:
        asked.append(number)
        return number

    with Warehouse.open(varied.path) as warehouse:
        for number in (*range(_N_KEPT + 1), _N_KEPT, 1, 0):
            assert warehouse.once(number, lambda number=number: answer(number)) == number  # type: ignore[misc]
    assert asked == [*range(_N_KEPT + 1), 0]


def test_fewer_answers_are_kept_if_they_are_large(varied: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_MOST_BYTES", 3000)
    asked: list[str] = []

    def scores(name: str) -> dict[int, object]:
        asked.append(name)
        return {0: np.zeros(50), 1: {"value": np.zeros(50)}}  # 800 bytes

    with Warehouse.open(varied.path) as warehouse:
        for name in "abcd":
            warehouse.once(name, lambda name=name: scores(name))  # type: ignore[misc]
        warehouse.once("b", lambda: scores("b"))
        warehouse.once("b", lambda: scores("b"))[2] = np.zeros(200)  # blocks add what they read to an answer
        warehouse.once("e", lambda: scores("e"))
        for name in "bedc":
            warehouse.once(name, lambda name=name: scores(name))  # type: ignore[misc]
    assert asked == [*"abcde", *"dc"]


def test_language_pairs_are_called_as_the_warehouse_calls_them(varied: Warehouse) -> None:
    assert Slice(TESTSET, "eng-deu") == Slice(TESTSET, LP)
    assert select(varied, Slice(TESTSET, "eng-deu")) == select(varied, Slice(TESTSET, LP))
    assert expand(varied, TESTSET, "eng-deu").chosen == expand(varied, TESTSET, LP).chosen
    assert evalset_states(varied, TESTSET, "eng-deu") == evalset_states(varied, TESTSET, LP)
