"""What the command line takes Python takes, and answers alike: each command that has a question of the same name."""

import inspect
from collections.abc import Iterator
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import polars as pl
import pytest

import metaeval
from cli.main import COMMANDS
from cli.options import ChartFlags, Output
from cli.options import beside as on_command_line
from cli.render.json import plain
from metaeval.limits import LEAST, MOST
from metaeval.questions import together
from tests.cli.running import Scorehouse, refused
from warehouse import QuestionError, Warehouse

QUESTIONS = {
    command: command.replace("-", "_") for command in COMMANDS if command.replace("-", "_") in metaeval.__all__
}
WHERE_RESULTS_GO = {"context", *(item.name for item in (*fields(Output), *fields(ChartFlags)))}
OTHERWISE = {
    "testsets": "testset",
    "on": "testset",
    "lps": "lp",
    "folder": "warehouse",
    "threads": "n_threads",
    "with_intervals": "intervals",
    **dict.fromkeys(("reference_based", "reference_free"), "only"),
    **dict.fromkeys(("with_outliers", "mad_outliers"), "outliers"),
    **dict.fromkeys(("within", "over_years", "bridges"), "view"),
    "kind": "kinds",
    "strength": "strengths",
    "share": "shares",
    "no_rankings": "measures",
}
"""Options that are called otherwise in Python."""
OTHERWISE_HERE = {
    **dict.fromkeys((("rank", "measure"), ("noise", "measure"), ("diff", "measure")), "measures"),
    ("compare", "metric"): "metrics",
    ("protocol", "name"): "rules",
    ("diff", "verbose"): "each",
}
"""By command and option: those that only one command calls otherwise."""
NOT_IN_PYTHON = {
    *(("rank", "explain"), ("rank", "wide"), ("rank", "with_file"), ("rank", "dask")),
    ("compare", "dask"),
    *(("protocol", name) for name in ("test", "correction", "early_stop", "dask", "fresh", "versus")),
    ("noise", "oracles"),
    ("paper", "check"),
    *(("audit", "strict"), ("audit", "queries")),
    ("diff", "exit_zero"),
}
"""By command and option; docs/python.md says why, and what is there instead."""
IN_PYTHON_ALONE = {"warehouse", "session"}


def _options(command: str) -> Iterator[tuple[inspect.Parameter, str]]:
    """The options of a command that compute something, each with the name that it has in Python."""
    for option, parameter in inspect.signature(COMMANDS[command]).parameters.items():
        if option not in WHERE_RESULTS_GO and (command, option) not in NOT_IN_PYTHON:
            yield parameter, OTHERWISE_HERE.get((command, option), OTHERWISE.get(option, option))


def _keywords(command: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(getattr(metaeval, QUESTIONS[command])).parameters)


def test_most_commands_that_compute_are_questions() -> None:
    assert len(QUESTIONS) > 15


@pytest.mark.parametrize("command", QUESTIONS)
def test_each_option_of_a_command_is_a_keyword_in_python(command: str) -> None:
    there = {name for _, name in _options(command)}
    assert there - set(_keywords(command)) == set()
    assert set(_keywords(command)) - there <= IN_PYTHON_ALONE


def test_no_exception_is_forgotten_when_its_reason_is_gone() -> None:
    for command, option in {*NOT_IN_PYTHON, *OTHERWISE_HERE}:
        assert option in inspect.signature(COMMANDS[command]).parameters
    for command, option in NOT_IN_PYTHON:
        assert option not in _keywords(command)


def test_the_documentation_names_each_option_that_python_lacks() -> None:
    text = Path("docs/python.md").read_text(encoding="utf-8")
    for command, option in NOT_IN_PYTHON:
        parameter = inspect.signature(COMMANDS[command]).parameters[option]
        told = get_args(parameter.annotation)[1]
        words = [told.default, *(told.param_decls or ())]
        flag = next((word for word in words if str(word).startswith("--")), f"--{option.replace('_', '-')}")
        assert f"`{flag}`" in text


def _values(hint: Any) -> set[str]:
    """The values of the closed sets in an annotation."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return set().union(*map(_values, get_args(hint)))


@pytest.mark.parametrize("command", QUESTIONS)
def test_an_option_has_the_same_default_and_values_in_both(command: str) -> None:
    hints = inspect.get_annotations(inspect.unwrap(getattr(metaeval, QUESTIONS[command])), eval_str=True)
    for option, name in _options(command):
        if name != option.name:
            continue
        if option.default not in (None, inspect.Parameter.empty):
            assert _keywords(command)[name].default == option.default, name
        assert get_origin(option.annotation) is Annotated
        told = get_args(option.annotation)[1]
        if name in hints and (values := _values(hints[name])):
            assert set(told.metavar.split("|")) == values, name


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_number_has_the_same_limits_in_both(command: str) -> None:
    for option, name in _options(command):
        told = get_args(option.annotation)[1]
        is_number = {int, float} & {get_args(option.annotation)[0], *get_args(get_args(option.annotation)[0])}
        if is_number and name in _keywords(command):
            assert told.parser.most == MOST.get(name), name
            assert name not in LEAST or told.parser.least >= LEAST[name], name


RANK = ("sim24", "cs-uk", "-m", "pearson", "-m", "pa")
TESTED = ("--significance", "--draws", "20")
WITH_TESTS: dict[str, Any] = {"significance": True, "draws": 20}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "keywords"),
    [
        (
            (*TESTED, "--test", "perm-inputs", "--plus-one"),
            {**WITH_TESTS, "test": "perm-inputs", "plus_one": True},
        ),
        (
            (*TESTED, "--test", "perm-inputs", "--mid-p", "--unit", "document"),
            {**WITH_TESTS, "test": "perm-inputs", "mid_p": True, "unit": "document"},
        ),
        (
            (*TESTED, "--test", "perm-inputs", "--early-stop", "--no-mid-p"),
            {**WITH_TESTS, "test": "perm-inputs", "early_stop": True, "mid_p": False},
        ),
        ((*TESTED, "--by", "domain"), {**WITH_TESTS, "by": "domain"}),
        (("--intervals", "--draws", "20"), {"intervals": True, "draws": 20}),
        (("--intervals", "--significance"), {"intervals": True, "significance": True}),
    ],
)
def test_rankings_are_those_of_the_command_line(
    words: tuple[str, ...], keywords: dict[str, Any], scorehouse: Scorehouse, simulated_warehouse: Warehouse
) -> None:
    ran = scorehouse("rank", *RANK, *words, "--format", "json")
    found = metaeval.rank(simulated_warehouse, "sim24", "cs-uk", ["pearson", "pa"], **keywords)
    assert plain(found.frame) == ran.json
    assert set(found.notes) <= set(ran.notes)


def test_options_of_williams_test_are_those_of_the_command_line(
    scorehouse: Scorehouse, simulated_warehouse: Warehouse
) -> None:
    words = ("--significance", "--test", "williams", "--alternative", "greater", "--legacy-df", "--absolute")
    ran = scorehouse("rank", "sim24", "cs-uk", "-m", "pearson", *words, "--format", "json")
    found = metaeval.rank(
        *(simulated_warehouse, "sim24", "cs-uk", "pearson"),
        significance=True,
        test="williams",
        alternative="greater",
        legacy_df=True,
        absolute=True,
    )
    assert plain(found.frame) == ran.json


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "keywords"),
    [
        ((), {}),
        ((*TESTED, "--plus-one"), {**WITH_TESTS, "plus_one": True}),
        ((*TESTED, "--population", "systems", "--verbose"), {**WITH_TESTS, "population": "systems", "verbose": True}),
        ((*TESTED, "--no-mid-p", "--alpha", "0.2"), {**WITH_TESTS, "mid_p": False, "alpha": 0.2}),
    ],
)
def test_protocols_are_those_of_the_command_line(
    words: tuple[str, ...], keywords: dict[str, Any], scorehouse: Scorehouse, simulated_warehouse: Warehouse
) -> None:
    ran = scorehouse("protocol", "wmt23", "--on", "sim24", "--lp", "cs-uk", *words, "--format", "json")
    found = metaeval.protocol(simulated_warehouse, "sim24", "cs-uk", rules="wmt23", **keywords)
    assert found.signature == ran.json["signature"]
    for name in set(found.frame.columns) & {"metric", "overall", "rank", "cluster"}:
        assert plain(found.frame[name]) == [row[name] for row in ran.json["metrics"]]
    assert set(found.notes) <= set(ran.notes)


@pytest.mark.slow
def test_findings_of_the_audit_are_those_of_the_command_line(
    scorehouse: Scorehouse, simulated_warehouse: Warehouse
) -> None:
    ran = scorehouse("audit", "sim24", "cs-uk", "--severity", "warning", "--format", "json")
    found = metaeval.audit(simulated_warehouse, "sim24", "cs-uk", severity="warning")
    assert plain(found.frame) == ran.json
    assert found.frame.height < metaeval.audit(simulated_warehouse, "sim24", "cs-uk").frame.height


def test_comparisons_are_those_of_the_command_line(scorehouse: Scorehouse, simulated_warehouse: Warehouse) -> None:
    words = (
        "-m",
        "pa",
        "--test",
        "perm-inputs",
        "--plus-one",
        "--no-mid-p",
        "--correction",
        "holm",
        "--draws",
        "20",
        "--format",
        "csv",
    )
    ran = scorehouse("compare", "sim24", "cs-uk", *words)
    asked: dict[str, Any] = {"test": "perm-inputs", "plus_one": True, "mid_p": False, "correction": "holm", "draws": 20}
    found = metaeval.compare(simulated_warehouse, "sim24", "cs-uk", "pa", fresh=True, **asked)
    assert pl.read_csv(StringIO(ran.out)).equals(pl.read_csv(StringIO(found.frame.write_csv())))


def test_what_needs_tests_needs_them_in_both() -> None:
    assert set(together.OF_TESTS) == set(on_command_line.OF_TESTS) - {"dask"} | {"fresh"}


OF_SYSTEMS = {"first": "A", "second": "B", "tell": "systems"}


@pytest.mark.parametrize(
    ("command", "words", "keywords"),
    [
        ("rank", ("--significance", "--pool", "mean"), {"significance": True, "pool": "mean"}),
        ("rank", ("--intervals", "--pool", "mean"), {"intervals": True, "pool": "mean"}),
        ("rank", ("--intervals", "--by", "domain"), {"intervals": True, "by": "domain"}),
        ("rank", ("--ceiling", "--pool", "mean"), {"ceiling": True, "pool": "mean"}),
        ("rank", ("--ceiling", "--by", "domain"), {"ceiling": True, "by": "domain"}),
        ("rank", ("--fresh",), {"fresh": True}),
        ("rank", ("--significance", "--draws", "0"), {"significance": True, "draws": 0}),
        ("rank", ("--intervals", "--draws", "0"), {"intervals": True, "draws": 0}),
        (
            "rank",
            ("-m", "pearson", *TESTED, "--test", "williams", "--early-stop"),
            {"measures": "pearson", **WITH_TESTS, "test": "williams", "early_stop": True},
        ),
        ("rank", ("--primary", "--all-metrics"), {"primary": True, "all_metrics": True}),
        ("systems", ("--system-score", "mean"), {"system_score": "mean"}),
        ("correlations", ("-m", "pearson(by=item)", "--system-score", "mean"), {"measure": "pearson(by=item)"}),
        ("plan", ("A", "B", "--tell", "systems", "--draws", "9"), {**OF_SYSTEMS, "draws": 9}),
        ("plan", ("A", "B", "--tell", "systems", "-m", "pa"), {**OF_SYSTEMS, "measure": "pa"}),
        ("trend", ("--bridges", "--pool", "mean"), {"view": "bridges", "pool": "mean"}),
        ("trend", ("--without-contaminated",), {"without_contaminated": True}),
        ("noise", ("--kind", "system", "--share", "0.2"), {"kinds": "system", "shares": [0.2]}),
        ("noise", ("--kind", "outliers", "--strength", "1"), {"kinds": ["outliers"], "strengths": [1.0]}),
    ],
)
def test_what_does_not_go_together_is_refused_in_both(
    command: str,
    words: tuple[str, ...],
    keywords: dict[str, Any],
    scorehouse: Scorehouse,
    simulated_warehouse: Warehouse,
) -> None:
    refused(scorehouse(command, "sim24", "cs-uk", *words), 2)
    more = {"system_score": "mean"} if command == "correlations" else {}
    with pytest.raises(QuestionError) as told:
        getattr(metaeval, QUESTIONS[command])(simulated_warehouse, "sim24", "cs-uk", **keywords, **more)
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "keywords"),
    [
        (("--significance", "--mid-p"), {"significance": True, "mid_p": True}),
        (("--significance", "--absolute"), {"significance": True, "absolute": True}),
        (("--significance", "--test", "perm-both"), {"significance": True, "test": "perm-both"}),
        (("--correction", "holm"), {"correction": "holm"}),
        (("--early-stop",), {"early_stop": True}),
    ],
)
def test_what_a_protocol_brings_itself_is_refused_in_both(
    words: tuple[str, ...], keywords: dict[str, Any], scorehouse: Scorehouse, simulated_warehouse: Warehouse
) -> None:
    line = refused(scorehouse("protocol", "wmt23", "--on", "sim24", "--lp", "cs-uk", *words), 2)
    with pytest.raises(QuestionError) as told:
        metaeval.protocol(simulated_warehouse, "sim24", "cs-uk", rules="wmt23", **keywords)
    said = line.removeprefix("error: ").replace("--", "").replace("early-stop", "early_stop")
    assert str(told.value) == said
