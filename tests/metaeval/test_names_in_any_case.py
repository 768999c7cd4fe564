"""Names of systems and human scores may be typed in any case, as names of metrics and test sets may."""

import pytest

import metaeval
from metaeval.results.notes import unanswered
from queries.evalsets import stored_score
from warehouse import QuestionError, Warehouse

EN_DE = ("sim24", "en-de")


def test_systems_and_human_scores_are_found_in_another_case(simulated_warehouse: Warehouse) -> None:
    typed = metaeval.systems(simulated_warehouse, *EN_DE, human="MQM", systems=("birch_nmt", "W*"), test="wilcoxon")
    exact = metaeval.systems(simulated_warehouse, *EN_DE, human="mqm", systems=("Birch_NMT", "W*"), test="wilcoxon")
    assert typed.frame.equals(exact.frame)
    assert typed.signature == exact.signature
    two = metaeval.systems(simulated_warehouse, *EN_DE, "web-l", ["BIRCH_nmt"], test="wilcoxon")
    assert {"WEB-L", "Birch_NMT"} <= set(two.frame.columns) | set(two.summary.split())


def test_an_exact_name_wins_and_one_of_several_in_another_case_is_none() -> None:
    assert stored_score("Online", {"Online", "ONLINE"}) == "Online"
    assert stored_score("online", {"Online", "ONLINE"}) == "online"


def test_an_error_of_several_evaluation_sets_is_said_once_and_where_there_is_a_way_out(
    simulated_warehouse: Warehouse,
) -> None:
    with pytest.raises(QuestionError) as caught:
        metaeval.rank(simulated_warehouse, "all", "all", domain="News", measures="pa")
    text = str(caught.value)
    assert "unknown domain 'News', did you mean 'news'?" in text
    assert text.count("unknown domain") == 1
    assert len(text) <= 200


def test_causes_are_told_apart_but_for_the_evaluation_set() -> None:
    texts = {
        ("a", "b"): "unknown domain 'News' for a b; none are available",
        ("c", "d"): "nothing is loaded",
        ("e", "f"): "unknown domain 'News' for e f; did you mean 'news'?",
    }
    said = unanswered({place: QuestionError(text, where=" ".join(place)) for place, text in texts.items()})
    assert str(said) == (
        "none of 3 evaluation sets has an answer: unknown domain 'News', did you mean 'news'? (e f and 1 more); "
        "nothing is loaded (c d)"
    )
