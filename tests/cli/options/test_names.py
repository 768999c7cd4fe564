"""Names as people type them: test sets and language pairs in any case, metrics with commas, measures as in papers."""

import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.main import COMMANDS
from cli.options.folding import kind_of
from metaeval import python_api
from metaeval.measures.registry import DEFINITIONS, parse_measure
from metaeval.python_api import as_stored
from metaeval.questions import QUESTIONS, question_named
from metaeval.questions.question import Question, question_with
from metaeval.results.answer import Answer
from metaeval.results.run import Run
from tests.cli.running import Scorehouse, examples, refused
from tests.helpers import but_slow, metric_tables, tiny_layout, together
from warehouse import QuestionError, load
from warehouse.fields import fields_of

NEW_NAMES = {("load", "testset"), ("load", "lp"), ("download", "testsets"), ("compute", "metrics")}
"""Parameters that name what the warehouse need not have."""
KINDS = {"testset": "testset", "testsets": "testset", "on": "testset", "lp": "lp", "lps": "lp", "metrics": "metric"}


@together("command", COMMANDS)
def test_every_parameter_that_names_what_is_loaded_takes_any_spelling(command: str) -> None:
    if command in QUESTIONS:
        for name, field in fields_of(question_named(command)).items():
            assert name not in KINDS or field.option.names == KINDS[name], f"{command}: {name}"
        return
    for name, parameter in inspect.signature(COMMANDS[command]).parameters.items():
        if name in KINDS and (command, name) not in NEW_NAMES:
            assert kind_of(parameter.annotation) == KINDS[name], f"{command}: {name}"


def _spelt(example: str) -> str:
    other = example.replace("sim24", "SIM24").replace("en-de", "EN-De")
    assert other != example
    return other


def _asked(scorehouse: Scorehouse, *words: str) -> Question:
    """The question that a command line asks, with the names that the warehouse has."""
    asked = []

    def noted(question: type[Question], given: dict[str, Any], run: Run) -> Answer:
        asked.append(as_stored(question_with(question, given), run))
        raise QuestionError("noted")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_api, "answered", noted)
        refused(scorehouse(*words), 2, "noted")
    return asked[0]


@pytest.mark.slow
@together("name", [name for name in QUESTIONS if "sim24" in examples(name)[0]])
def test_a_question_is_the_same_in_another_spelling(name: str, scorehouse: Scorehouse) -> None:
    (example,) = examples(name)
    assert _asked(scorehouse, *shlex.split(example)) == _asked(scorehouse, *shlex.split(_spelt(example)))


@pytest.mark.slow
@pytest.mark.parametrize("command", but_slow({"compute", "explore"}, ("rank", "compute", "explore", "export")))
def test_a_command_answers_the_same_in_another_spelling(
    command: str, scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # an export writes there
    (example,) = examples(command)
    other = re.sub(r"acc_eq", "acc-t", _spelt(example))
    plain, spelt = (scorehouse(*shlex.split(words)) for words in (example, other))
    assert plain.code == 0, plain.err
    assert (spelt.code, spelt.out) == (0, plain.out), spelt.err


@pytest.mark.slow
@together(
    ("words", "same"),
    [
        ("--metrics simBLEU,Oriole", "--metrics simBLEU --metrics Oriole"),
        ("--metrics 'sim*, Oriole'", "--metrics 'sim*' --metrics Oriole"),
        ("--metrics ALL", ""),
    ],
)
@together("command", ["rank", "means", "correlations", "counts"])
def test_metrics_have_commas_or_are_all(command: str, words: str, same: str, scorehouse: Scorehouse) -> None:
    one, other = (_asked(scorehouse, command, "sim24", "en-de", *shlex.split(each)) for each in (words, same))
    assert one == other


@pytest.mark.slow
def test_compare_takes_all_and_commas(scorehouse: Scorehouse) -> None:
    of_all = _asked(scorehouse, "compare", "sim24", "en-de", "all")
    assert of_all == _asked(scorehouse, "compare", "sim24", "en-de")
    for lp in ("en-de", "all"):
        pair = _asked(scorehouse, "compare", "sim24", lp, "simBLEU,Oriole")
        assert pair == _asked(scorehouse, "compare", "sim24", lp, "simBLEU", "Oriole") != of_all
    several = scorehouse("compare", "sim24", "all", "simBLEU,Oriole", "-m", "pa", "--resamples", "5", "--format", "csv")
    assert several.code == 0
    assert {"en-de", "cs-uk"} <= {line.split(",")[1] for line in several.out.splitlines()[1:]}


@pytest.mark.slow
def test_names_with_capitals_and_commas_are_found_as_they_are(scorehouse: Scorehouse, tmp_path: Path) -> None:
    database = tmp_path / "own.duckdb"
    metrics = {"A,B-src": metric_tables()["Fine-src"], "B-src": metric_tables()["Flat-src"]}
    assert load([tiny_layout(tmp_path / "in", testset="My24", metrics=metrics)], database).is_clean
    for testset in ("My24", "MY24"):
        ran = scorehouse("means", testset, "EN-DE", "--metrics", "A,B", "--db", database, "--format", "json")
        assert {row["scorer"] for row in ran.json if row["kind"] == "metric"} == {"A,B-src"}


@pytest.mark.slow
def test_a_pattern_that_matches_a_metric_of_one_s_own_says_that_it_is_excluded(
    scorehouse: Scorehouse, tmp_path: Path
) -> None:
    database = tmp_path / "own.duckdb"
    layout = tiny_layout(tmp_path / "in")
    assert load([layout], database).is_clean
    scores = next((layout / "metric-scores").rglob("Rough-refA.seg.score"))
    own = tmp_path / "en-de.MyMix.seg.score"
    own.write_bytes(scores.read_bytes())
    words = ("--metric", "MyMix", "--ref", "refA", "--testset", layout.name.upper(), "--db", database)
    assert scorehouse("add", own, *words).code == 0
    where = (layout.name, "en-de", "-m", "pa", "--db", database)
    ran = scorehouse("rank", *where, "--metrics", "My*,Rough", "--format", "json")
    assert [row["metric"] for row in ran.json] == ["Rough-refA"]
    assert "MyMix-refA matched, but is excluded: added by a user (included by --user-metrics)" in ran.notes
    for named in (("--metrics", "MyMix,Rough"), ("--metrics", "My*,Rough", "--user-metrics")):
        ran = scorehouse("rank", *where, *named, "--format", "json")
        assert {row["metric"] for row in ran.json} == {"MyMix-refA", "Rough-refA"}
        assert not any("matched" in note for note in ran.notes)


@together("spelt", ["acc-t", "acc_t", "acc*", "acc-eq", "ACC_EQ", "acc*_eq", " Acc-T ( by = item )"])
def test_measures_have_the_names_of_papers(spelt: str) -> None:
    assert str(parse_measure(spelt)) == "acc_eq(by=item)"


def test_every_measure_is_read_in_capitals_and_with_dashes() -> None:
    for printed, definition in DEFINITIONS.items():
        name, rest = definition.name, printed.removeprefix(definition.name)
        assert str(parse_measure(name.upper().replace("_", "-") + rest)) == printed
