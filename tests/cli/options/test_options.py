"""Options that commands share: closed choices, and what stands before the name of a command."""

from pathlib import Path
from typing import Any, get_args

import pytest

from cli.commands import compute, export
from cli.main import program
from metaeval.fields import Correction, Test
from metaeval.kernels.resampling import bootstrap, clusters
from metaeval.measures import applicable
from metaeval.question import fields_of
from metaeval.questions import question_named
from queries.findings import SEVERITIES
from queries.listing import LISTINGS
from tests.cli.running import Scorehouse, refused
from tests.helpers import sampled, together
from warehouse.own.sacrebleu import METRICS


def _choices(question: str, field: str) -> tuple[str, ...]:
    return fields_of(question_named(question))[field].choices


@together(
    ("announced", "known"),
    [
        (get_args(Test), applicable.TESTS),
        (get_args(Correction), get_args(clusters.Correction)),
        (_choices("compare", "resample"), get_args(bootstrap.Resample)),
        (_choices("compare", "interval"), get_args(bootstrap.IntervalMethod)),
        (_choices("audit", "severity"), SEVERITIES),
        (_choices("list", "what"), [*LISTINGS, "measures", "protocols"]),
        (compute.METRICS, METRICS),
    ],
)
def test_the_values_that_the_command_line_announces_are_those_there_are(announced: Any, known: Any) -> None:
    assert sorted(announced) == sorted(known)


def choices() -> list[tuple[str, str, str]]:
    """Command, option and values of every option whose values are a closed set."""
    commands: dict[str, Any] = program().commands  # type: ignore[attr-defined]
    return [
        (name, parameter.opts[0], parameter.metavar)
        for name, command in commands.items()
        for parameter in command.params
        if parameter.param_type_name == "option" and "|" in (parameter.metavar or "")
    ]


def test_safe_cells_stands_before_or_behind_the_command_and_needs_a_format_with_cells(scorehouse: Scorehouse) -> None:
    query = ("sql", "SELECT '=1' AS a, -1 AS b")
    for words in (("--safe-cells", *query), (*query, "--safe-cells")):
        assert scorehouse(*words, "--format", "csv").out == "a,b\n'=1,-1\n"
        for form in ("json", "table", "parquet"):
            refused(scorehouse(*words, "--format", form), 2, "--safe-cells is for --format csv and tsv")
    assert scorehouse(*query, "--format", "csv").out == "a,b\n=1,-1\n"


def test_there_are_closed_choices_to_look_at() -> None:
    assert len(choices()) > 40
    assert {"--format", "--test", "--by", "--severity", "--pool", "--system-score"} <= {
        flag for _, flag, _ in choices()
    }


@together(("command", "flag", "values"), choices())
def test_a_value_that_there_is_not_is_refused_with_those_there_are(
    command: str, flag: str, values: str, scorehouse: Scorehouse
) -> None:
    line = refused(scorehouse(command, flag, "nothing"), 2)
    assert line.startswith(
        f"error: {flag} 'nothing': expected one of {', '.join(values.removesuffix('...').split('|'))}"
    )


@pytest.mark.parametrize(("command", "layout"), sampled(3, "every layout: 2 seconds", ["export"], export.LAYOUTS))
def test_the_format_of_an_export_is_no_format_of_results(
    command: str, layout: str, scorehouse: Scorehouse, tmp_path: Path
) -> None:
    assert scorehouse("--format", "json", command, tmp_path / layout, "sim24", "en-de", "--format", layout).json


def test_what_stands_before_a_command_holds_for_that_command_alone(scorehouse: Scorehouse) -> None:
    assert scorehouse("--format", "csv", "list", "testsets").out.startswith("testset,")
    assert scorehouse("--format", "csv", "list", "testsets", "--format", "tsv").out.startswith("testset\t")
    assert scorehouse("list", "testsets").out.splitlines()[1].startswith("──")
