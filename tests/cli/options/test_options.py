"""Options that commands share: safe cells, and what stands before the name of a command."""

from pathlib import Path

from tests.cli.running import Scorehouse, refused


def test_safe_cells_stands_before_or_behind_the_command_and_needs_a_format_with_cells(scorehouse: Scorehouse) -> None:
    query = ("sql", "SELECT '=1' AS a, -1 AS b")
    for words in (("--safe-cells", *query), (*query, "--safe-cells")):
        assert scorehouse(*words, "--format", "csv").out == "a,b\n'=1,-1\n"
        for form in ("json", "table", "parquet"):
            refused(scorehouse(*words, "--format", form), 2, "--safe-cells is for --format csv and tsv")
    assert scorehouse(*query, "--format", "csv").out == "a,b\n=1,-1\n"


def test_the_format_of_an_export_is_no_format_of_results(scorehouse: Scorehouse, tmp_path: Path) -> None:
    words = ("export", tmp_path / "texts", "sim24", "en-de", "--format", "texts")
    assert scorehouse("--format", "json", *words).json


def test_what_stands_before_a_command_holds_for_that_command_alone(scorehouse: Scorehouse) -> None:
    assert scorehouse("--format", "csv", "list", "testsets").out.startswith("testset,")
    assert scorehouse("--format", "csv", "list", "testsets", "--format", "tsv").out.startswith("testset\t")
    assert scorehouse("list", "testsets").table[1].startswith("──")
