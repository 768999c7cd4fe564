"""Options that commands share: closed choices, and what stands before the name of a command."""

from pathlib import Path
from typing import Any, get_args

import pytest

from cli.commands import audit, compare, compute, counts, export, listing, rank, systems
from cli.main import program
from cli.options import compute as compute_options
from cli.options import tests as test_options
from metaeval.kernels.resampling.bootstrap import IntervalMethod, Resample
from metaeval.kernels.resampling.corrections import Correction
from metaeval.measures.applicable import TESTS
from metaeval.pooling import Pooling
from metaeval.significance.options import Alternative
from metaeval.significance.systems import SystemTest
from metaeval.system_scores import SystemScore
from queries.findings import SEVERITIES
from queries.listing import LISTINGS
from queries.pairs import Unit
from tests.cli.running import Scorehouse, refused
from tests.helpers import sampled
from warehouse.own.sacrebleu import METRICS


@pytest.mark.parametrize(
    ("announced", "known"),
    [
        (test_options.TESTS, TESTS),
        (test_options.ALTERNATIVES, get_args(Alternative)),
        (test_options.CORRECTIONS, get_args(Correction)),
        (compute_options.SYSTEM_SCORES, get_args(SystemScore)),
        (compare.RESAMPLES, get_args(Resample)),
        (compare.INTERVALS, get_args(IntervalMethod)),
        (rank.POOLINGS, get_args(Pooling)),
        (systems.TESTS, get_args(SystemTest)),
        (counts.GROUPS, get_args(Unit)),
        (audit.LEVELS, SEVERITIES),
        (compute.METRICS, METRICS),
        (listing.LISTINGS, [*LISTINGS, "measures", "protocols"]),
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


@pytest.mark.parametrize(("command", "flag", "values"), choices())
def test_a_value_that_there_is_not_is_refused_with_those_there_are(
    command: str, flag: str, values: str, scorehouse: Scorehouse
) -> None:
    line = refused(scorehouse(command, flag, "nothing"), 2)
    assert line == f"error: {flag} 'nothing': expected one of {', '.join(values.split('|'))}"


@pytest.mark.parametrize(("command", "layout"), sampled(3, "every layout: 2 seconds", ["export"], export.LAYOUTS))
def test_the_format_of_an_export_is_no_format_of_results(
    command: str, layout: str, scorehouse: Scorehouse, tmp_path: Path
) -> None:
    assert scorehouse("--format", "json", command, tmp_path / layout, "sim24", "en-de", "--format", layout).json


def test_what_stands_before_a_command_holds_for_that_command_alone(scorehouse: Scorehouse) -> None:
    assert scorehouse("--format", "csv", "list", "testsets").out.startswith("testset,")
    assert scorehouse("--format", "csv", "list", "testsets", "--format", "tsv").out.startswith("testset\t")
    assert scorehouse("list", "testsets").out.splitlines()[1].startswith("──")
