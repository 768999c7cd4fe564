"""Commands and options by their names of the version before, and names as people type them."""

import pytest

import scorehouse
from cli.hints import generated, options_of
from cli.main import program
from metaeval.questions import QUESTIONS, RENAMED, question_named
from tests.cli.running import Scorehouse, refused
from tests.cli.words import WORDS
from warehouse import Warehouse
from warehouse.fields import fields_of

RANK = ("rank", "sim24", "cs-uk", "-m", "pa", "--format", "json")


@pytest.mark.parametrize("old", RENAMED)
def test_a_command_runs_under_its_old_name_and_names_the_new_one(old: str, scorehouse: Scorehouse) -> None:
    words = WORDS[RENAMED[old]]
    now, before = scorehouse(RENAMED[old], *words), scorehouse(old, *words)
    assert (before.code, before.out) == (0, now.out)
    assert before.err.splitlines()[0] == f"{old} is now called {RENAMED[old]}"
    assert "is now called" not in scorehouse("-q", old, *words).err
    assert old not in generated()["summaries"]


@pytest.mark.slow
def test_an_option_is_understood_under_its_old_name_and_hidden(scorehouse: Scorehouse) -> None:
    tested = (*RANK, "--significance", "--resamples", "20")
    for old, new, words in (
        ("--fresh", "--recompute", (*tested, "--fresh")),
        ("--own", "--user-metrics", (*RANK, "--own")),
        ("--draws", "--resamples", (*RANK, "--significance", "--draws=20")),
        ("--draws", "--selections", ("sample", "sim24", "cs-uk", "--evaluate", "--draws", "2", "--method", "random")),
    ):
        ran = scorehouse(*words)
        assert (ran.code, ran.err.splitlines()[0]) == (0, f"{old} is now called {new}")
        assert old not in scorehouse(words[0], "--help").out.split()
    assert scorehouse(*RANK, "--own", "-q").json == scorehouse(*RANK, "--user-metrics").json


def test_old_names_in_python_are_answered_with_a_warning(simulated_warehouse: Warehouse) -> None:
    with pytest.warns(FutureWarning, match="own is now called user_metrics"):
        found = scorehouse.rank(simulated_warehouse, "sim24", "cs-uk", measures="pa", own=True)
    assert found.question.user_metrics  # type: ignore[attr-defined]
    with pytest.warns(FutureWarning, match="choose is now called sample"):
        assert scorehouse.choose is scorehouse.sample


def test_no_old_name_is_taken_by_another_option_or_command() -> None:
    assert not {*RENAMED} & {*generated()["summaries"]}
    for name in QUESTIONS:
        known = fields_of(question_named(name))
        former = [one.option.formerly for one in known.values() if one.option.formerly]
        assert not {*former} & {*known}, name
        assert len({*former}) == len(former), name


@pytest.mark.parametrize(("old", "new"), generated()["renamed"].items())
def test_every_new_name_is_an_option_and_the_first_known_one_stands_for_the_old(old: str, new: list[str]) -> None:
    options = [options_of(command) for command in program().commands.values()]
    assert not any(old in known for known in options)
    assert all(any(name in known for known in options) for name in new)


@pytest.mark.parametrize(
    ("testset", "lp", "metric"),
    [("SIM24", "Czech-Ukrainian", "simBLEU"), ("sim24", "cs→uk", "simbleu"), ("sim24", "ces-ukr", "simbleu-refa")],
)
def test_languages_by_name_and_metrics_in_lower_case_are_understood(
    testset: str, lp: str, metric: str, scorehouse: Scorehouse
) -> None:
    plain = scorehouse("scatter", "sim24", "cs-uk", "simBLEU").out
    assert scorehouse("scatter", testset, lp, metric).out == plain


def test_a_year_is_the_test_set_of_that_year_or_the_choice_of_them() -> None:
    from queries.evalsets import stored_testset, unknown_testset

    assert stored_testset("2023,22", {"wmt23", "wmt22"}) == "wmt23,wmt22"
    assert "name one: wmt21.flores, wmt21.news" in str(unknown_testset("2021", ["wmt21.news", "wmt21.flores", "wmt22"]))
    assert str(unknown_testset("en-de", ["wmt23", "wmt24", "xq-meval"])).endswith("such as wmt24 en-de")


def test_one_language_is_answered_with_its_pairs(scorehouse: Scorehouse) -> None:
    refused(scorehouse("rank", "sim24", "Ukrainian"), 2, "'Ukrainian' is a language", "did you mean cs-uk?")
