"""Questions as tools of a Model Context Protocol server, asked by the SDK's own client."""

import asyncio
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.tools import MOST_ROWS, fields_offered, questions, schema
from metaeval.questions import QUESTIONS
from tests.cli.running import Scorehouse, refused

pytest.importorskip("mcp")
EN_DE = {"testset": "sim24", "lp": "en-de"}


def asked(database: Path, *calls: tuple[str, Mapping[str, Any]]) -> list[Any]:
    """What a client that is connected to the server gets for each call of a tool."""
    from mcp.client.client import Client

    from cli.tools import server

    async def conversation() -> list[Any]:
        async with Client(server(database)) as client:
            return [await client.call_tool(name, dict(given)) for name, given in calls]

    return asyncio.run(conversation())


def rows_of(printed: Any) -> list[dict[str, Any]]:
    rows = printed if isinstance(printed, list) else [printed]
    return [{name: value for name, value in row.items() if name not in ("signature", "summary")} for row in rows]


COMPARED = {**EN_DE, "metrics": ["simBLEU", "Dice-src"], "measure": "pa", "resamples": 20}
MEASURES = ["pa", "tau_b(by=item)"]


CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("list", {}, ""),
    ("rank", {**EN_DE, "measures": MEASURES, "human": "mqm"}, "-m pa -m tau_b(by=item) --human mqm"),
    ("compare", COMPARED, "simBLEU Dice-src -m pa --resamples 20"),
    ("means", EN_DE, ""),
    ("counts", EN_DE, ""),
    ("correlations", EN_DE, ""),
    ("thresholds", EN_DE, ""),
    ("audit", {"testset": "sim24"}, ""),
)
MORE_CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("protocol", {"rules": "wmt24", "on": "sim24", "lp": "en-de"}, "wmt24 --on sim24 --lp en-de"),
    ("advise", {**EN_DE, "measure": "pa"}, "-m pa"),
    ("systems", {**EN_DE, "test": "wilcoxon"}, "--test wilcoxon"),
    ("autorank", EN_DE, ""),
    ("trend", {"testset": "all", "lp": "en-de", "measure": "pa"}, "-m pa"),
    ("show", {**EN_DE, "segment": 1}, "1"),
    ("segments", {**EN_DE, "metric": "simBLEU"}, "simBLEU"),
    ("spans", EN_DE, ""),
    ("scatter", {**EN_DE, "metric": "simBLEU"}, "simBLEU"),
    ("deltas", {**EN_DE, "metric": "simBLEU"}, "simBLEU"),
    ("noise", {**EN_DE, "metric": "simBLEU", "simulations": 20}, "simBLEU --simulations 20"),
    ("plan", {**EN_DE, "first": "simBLEU", "second": "Dice-src", "measure": "pa"}, "simBLEU Dice-src -m pa"),
    ("cutoff", {**EN_DE, "metric": "simBLEU", "good": "-1"}, "simBLEU --good -1"),
    ("sample", {**EN_DE, "size": 50}, "--size 50"),
    ("annotators", EN_DE, ""),
    ("judges", EN_DE, ""),
    ("paper", {"paper": "graham-2014", "item": "figure-2", **EN_DE}, "graham-2014 figure-2 --testset sim24 --lp en-de"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "given", "words"), [*CASES, *MORE_CASES])
def test_a_tool_answers_with_the_rows_of_the_command(
    scorehouse: Scorehouse, default_database: Path, name: str, given: dict[str, Any], words: str
) -> None:
    (found,) = asked(default_database, (name, given))
    places = [given[key] for key in ("testset", "lp") if key in given and name not in ("paper", "protocol")]
    shape = scorehouse(name, *places, *words.split(), "--format", "json").json
    printed = rows_of(shape)
    answer = found.structured_content
    assert not found.is_error
    assert answer["rows"] == printed[: len(answer["rows"])]
    assert answer["summary"]
    assert isinstance(shape, list) or answer["summary"] == shape["summary"]
    assert answer["n_rows"] == len(printed) == len(answer["rows"]) + answer["n_rows_left_out"]
    assert json.loads(found.content[0].text) == answer


def test_every_question_about_the_warehouse_is_a_tool_with_a_valid_schema() -> None:
    from jsonschema import Draft202012Validator

    assert {name.replace("_", "-") for name in questions()} == {*QUESTIONS} - {"diff"}
    assert {name for name, *_ in (*CASES, *MORE_CASES)} == {*questions()}
    for question in questions().values():
        Draft202012Validator.check_schema(schema(question))
    assert schema(questions()["rank"])["required"] == ["testset"]
    assert schema(questions()["rank"])["properties"]["level"]["enum"] == ["seg", "doc"]


def test_no_tool_takes_a_file_or_an_address() -> None:
    for question in questions().values():
        assert not {"with_file", "folder", "texts", "threads"} & set(fields_offered(question))


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("nope", {}, "unknown tool 'nope'"),
        ("diff", {"before": "a", "after": "b"}, "unknown tool 'diff'"),
        ("rank", {}, "testset"),
        ("rank", {**EN_DE, "with_file": "/etc/hostname"}, "unknown argument 'with_file'"),
        ("rank", {**EN_DE, "human": "nobody"}, "nobody"),
        ("protocol", {"rules": "/etc/passwd.toml"}, "reads no file"),
        ("rank", {**EN_DE, "alpha": "much"}, "alpha"),
        ("sql", {}, "query"),
        ("sql", {"query": 5}, "query"),
        ("sql", {"query": "SELECT 1", "path": "x"}, "unknown argument 'path'"),
        ("sql", {"query": "COPY (SELECT 1) TO 'here.csv'"}, "COPY is refused"),
        ("sql", {"query": "SELECT * FROM read_text('/etc/hostname')"}, "file"),
        ("sql", {"query": "ATTACH 'other.duckdb'"}, "refused"),
        ("schema", {"name": "nothing"}, "unknown view"),
    ],
)
def test_what_a_tool_cannot_answer_is_an_error_of_one_line(
    default_database: Path, name: str, given: dict[str, Any], why: str
) -> None:
    (found,) = asked(default_database, (name, given))
    assert found.is_error
    assert why in found.content[0].text
    assert "\n" not in found.content[0].text.strip()


def test_the_server_leaves_the_warehouse_as_it_is(default_database: Path) -> None:
    before = hashlib.sha256(default_database.read_bytes()).digest()
    asked(default_database, ("compare", COMPARED), ("sql", {"query": "DELETE FROM metric"}))
    assert hashlib.sha256(default_database.read_bytes()).digest() == before


def test_rows_that_do_not_fit_are_counted(default_database: Path) -> None:
    (found,) = asked(default_database, ("sql", {"query": "SELECT range AS n FROM range(1000)"}))
    assert found.structured_content["n_rows"] == 1000
    assert found.structured_content["n_rows_left_out"] == 1000 - MOST_ROWS
    (found,) = asked(default_database, ("sql", {"query": "SELECT repeat('x', 30000) AS long FROM range(9)"}))
    assert [len(row["long"]) for row in found.structured_content["rows"]] == [30000]
    assert found.structured_content["n_rows_left_out"] == 8


def test_measures_and_methods_can_be_read_and_nothing_else(default_database: Path) -> None:
    from mcp import MCPError
    from mcp.client.client import Client

    from cli.tools import server

    async def conversation() -> None:
        async with Client(server(default_database)) as client:
            found = (await client.list_resources()).resources
            texts = {str(one.uri): (await client.read_resource(str(one.uri))).contents[0].text for one in found}
            assert {row["measure"] for row in json.loads(texts["scorehouse://measures"])} >= {
                "spa",
                "pa",
                "acc_eq(by=item)",
            }
            assert texts["scorehouse://methods/agreement"].startswith("# ")
            with pytest.raises(MCPError, match="unknown resource"):
                await client.read_resource("scorehouse://methods/../../README")

    asyncio.run(conversation())


@pytest.mark.slow
def test_a_client_talks_to_the_program_over_stdin_and_stdout(default_database: Path) -> None:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    words = ["-c", "from scorehouse.start import run; run()", "--db", str(default_database), "mcp"]

    async def conversation() -> tuple[int, Any]:
        async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=words))) as client:
            tools = (await client.list_tools()).tools
            return len(tools), await client.call_tool("rank", EN_DE)

    n_tools, found = asyncio.run(conversation())
    assert n_tools == len(questions()) + 2
    assert found.structured_content["rows"][0]["rank"] == 1


def test_mcp_writes_no_file_and_has_no_format(scorehouse: Scorehouse, tmp_path: Path) -> None:
    refused(scorehouse("mcp", "-o", tmp_path / "x.csv"), 2, "stdout")
    refused(scorehouse("mcp", "--db", tmp_path / "none.duckdb"), 4, "none.duckdb")
