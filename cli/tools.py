"""The questions as tools of a Model Context Protocol server, which a language model asks over stdio.

A tool's schema comes from the fields that also make the command, so the two cannot drift apart. Fields that name a file
or only say how to compute are not offered: the server reads one warehouse and writes nothing.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING
from functools import partial
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from cli.hints import generated
from cli.render.json import compact, plain
from metaeval.questions import QUESTIONS, question_named
from metaeval.questions.question import Question
from metaeval.results.signature import program_version
from metaeval.studies.protocols import OWN
from warehouse.errors import QuestionError, WarehouseError, unknown
from warehouse.fields import Field, fields_of
from warehouse.wording import in_python

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from metaeval.results.answer import Answer

MOST_ROWS = 200
MOST_CHARACTERS = 40_000  # of the rows of one answer: about 10,000 tokens
_OTHER_FILES = ("diff",)  # questions about files that are not the warehouse
_TYPES = {int: "integer", float: "number", bool: "boolean"}
_PAGES = ("agreement", "significance", "years", "beyond-rankings")
INSTRUCTIONS = (
    "scorehouse holds metric scores and human scores of the WMT metrics shared tasks, and tests which metrics agree "
    "with human scores. Call `list` first: it names the test sets. Values of different test sets are not comparable: "
    "their "
    "systems, segments and human scores differ. Quote the signature with a number."
)


class StoppedError(Exception):
    """The client no longer waits for the answer."""


def questions() -> dict[str, type[Question[Any]]]:
    """The questions that are tools, by the tool's name."""
    return {name.replace("-", "_"): question_named(name) for name in QUESTIONS if name not in _OTHER_FILES}


def fields_offered(question: type[Question[Any]]) -> dict[str, Field]:
    """The fields of a question that a tool takes."""
    return {
        name: field
        for name, field in fields_of(question).items()
        if field.element is not Path and not field.option.is_computing and "with_file" not in field.option.needs
    }


def schema(question: type[Question[Any]]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    offered = fields_offered(question)
    needed = [name for name, field in offered.items() if field.default is MISSING]
    return _object({name: _property(field) for name, field in offered.items()}, needed)


def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _property(field: Field) -> dict[str, Any]:
    option = field.option
    value: dict[str, Any] = {"type": _TYPES.get(field.element, "string")}
    if field.choices:
        value["enum"] = list(field.choices)
    if option.may_be_number:
        value["type"] = ["string", "number"]
    limits = {"minimum": option.least, "maximum": option.most}
    value |= {name: limit for name, limit in limits.items() if limit is not None}
    found: dict[str, Any] = {"type": "array", "items": value} if field.is_list else value
    found["description"] = in_python(option.help)
    if field.default is not MISSING and field.default not in (None, ()):
        found["default"] = plain(field.default)
    return found


def result(answer: "Answer[Any]") -> dict[str, Any]:
    """An answer as a tool gives it: rows as in the command's JSON, cut to a size, with a count of the rest.

    The signature, which JSON repeats in every row, and the answer sentence are given once.
    """
    value = plain(answer.frame.to_dicts() if answer.shape is None else answer.shape)
    found: list[dict[str, Any]] = value if isinstance(value, list) else [value]  # type: ignore[list-item]
    rows = [{key: item for key, item in row.items() if key not in ("signature", "summary")} for row in found]
    stated = {"signature": answer.signature.splitlines(), "notes": list(answer.notes)}
    return {"summary": answer.summary, **_cut(rows), **stated}


def _cut(rows: list[Any]) -> dict[str, Any]:
    """The first rows that fit into one answer, how many rows there are, and how many are omitted."""
    kept, size = 0, 0
    for row in rows[:MOST_ROWS]:
        size += len(compact(row))
        if kept and size > MOST_CHARACTERS:
            break
        kept += 1
    return {"rows": rows[:kept], "n_rows": len(rows), "n_rows_left_out": len(rows) - kept}


def ask(database: Path, name: str, given: Mapping[str, Any], is_stopped: Callable[[], bool]) -> dict[str, Any]:
    """The answer of a tool.

    Raises QuestionError: no such tool or argument, or as the question does.
    """
    tools = questions()
    if name == "sql":
        return _sql(database, **_checked(name, given, ("query",)))
    if name == "schema":
        return _dictionary(database, **_checked(name, given, (), ("name",)))
    if name not in tools:
        raise unknown("tool", name, [*tools, "sql", "schema"])
    from metaeval.python_api import answered
    from metaeval.results.run import Run
    from warehouse import Warehouse

    _checked(name, given, (), fields_offered(tools[name]))
    for argument, value in given.items():
        if name == "protocol" and isinstance(value, str) and value.lower().endswith(OWN):
            raise QuestionError(f"{argument} {value!r}: a tool reads no file; name a year's rules, such as wmt23")

    def advance(what: str, done: int, total: int) -> None:
        if is_stopped():
            raise StoppedError

    # No database is named, so results are computed and not stored: the server leaves the file as it is.
    answer = answered(tools[name], dict(given), Run(partial(Warehouse.open, database), None, advance))
    return result(answer.in_python)


def _checked(
    name: str, given: Mapping[str, Any], needed: tuple[str, ...], more: "tuple[str, ...] | Mapping[str, Any]" = ()
) -> dict[str, Any]:
    """The arguments, if the tool has them all.

    Raises QuestionError: an unknown one, or one is missing.
    """
    for one in given:
        if one not in (*needed, *more):
            raise unknown("argument", one, [*needed, *more], where=name)
    for one in needed:
        if not isinstance(given.get(one), str):
            raise QuestionError(f"{name} needs a text for {one!r}")
    return dict(given)


def _sql(database: Path, query: str) -> dict[str, Any]:
    from queries.adhoc import answer

    frame = answer(database, query)
    cut = _cut([plain(row) for row in frame.head(MOST_ROWS).to_dicts()])
    return cut | {"n_rows": frame.height, "n_rows_left_out": frame.height - len(cut["rows"])}


def _dictionary(database: Path, name: str | None = None) -> dict[str, Any]:
    from queries.listing import dictionary
    from warehouse import Warehouse

    with Warehouse.open(database) as warehouse:
        frame = dictionary(warehouse, name)
    things = frame.filter(frame["column"].is_null()) if name is None else frame
    return _cut([plain({key: value for key, value in row.items() if value}) for row in things.to_dicts()])


def resources(database: Path) -> dict[str, tuple[str, Callable[[], str]]]:
    """Texts that a client may read, by address: a title, and the function that reads the text."""
    found = {
        "scorehouse://measures": (
            "Every measure: its level, parameters and meaning",
            lambda: compact(ask(database, "list", {"what": "measures"}, lambda: False)["rows"]),
        )
    }
    for name in _PAGES:
        if (page := _page(name)) is not None:
            found[f"scorehouse://methods/{name}"] = (page.partition("\n")[0].lstrip("# "), partial(str, page))
    return found


def _page(name: str) -> str | None:
    """A page on methods, from the wheel, or from docs/ in an editable installation."""
    installed = files("cli") / "methods" / f"{name}.md"
    beside = Path(__file__).resolve().parents[1] / "docs" / "methods" / f"{name}.md"
    for place in (installed, beside):
        with suppress(OSError):
            return place.read_text(encoding="utf-8")
    return None


def server(database: Path) -> "Server[Any]":
    """The server, which is not yet listening."""
    from mcp import MCPError, types
    from mcp.server.lowlevel import Server

    summaries = generated()["summaries"]
    turn = asyncio.Lock()  # one question at a time: each may use all cores

    def tool(name: str, description: str, parameters: dict[str, Any]) -> types.Tool:
        hints = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
        return types.Tool(name=name, description=description, input_schema=parameters, annotations=hints)

    async def list_tools(context: Any, asked: Any) -> types.ListToolsResult:
        found = [tool(name, summaries[question.name], schema(question)) for name, question in questions().items()]
        query = {"type": "string", "description": "One SELECT. Call `schema` for views and columns."}
        found.append(
            tool("sql", f"{summaries['sql']} At most {MOST_ROWS} rows return.", _object({"query": query}, ["query"]))
        )
        name = {"type": "string", "description": "One view, macro or table, with its columns."}
        found.append(
            tool("schema", "List the views, macros and tables that sql can query.", _object({"name": name}, []))
        )
        return types.ListToolsResult(tools=found)

    async def call_tool(context: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        stopped = Event()
        try:
            async with turn:
                work = partial(ask, database, asked.name, asked.arguments or {}, stopped.is_set)
                found = await asyncio.to_thread(work)
        except WarehouseError as error:
            return types.CallToolResult(content=[types.TextContent(text=in_python(error.text))], is_error=True)
        finally:
            stopped.set()
        return types.CallToolResult(content=[types.TextContent(text=compact(found))], structured_content=found)

    async def list_resources(context: Any, asked: Any) -> types.ListResourcesResult:
        found = [types.Resource(uri=uri, name=title) for uri, (title, _) in resources(database).items()]
        return types.ListResourcesResult(resources=found)

    async def read_resource(context: Any, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        known = resources(database)
        if str(asked.uri) not in known:
            raise MCPError(types.INVALID_PARAMS, unknown("resource", str(asked.uri), known).text)
        _, read = known[str(asked.uri)]
        text = await asyncio.to_thread(read)
        is_json = str(asked.uri) == "scorehouse://measures"
        kind = "application/json" if is_json else "text/markdown"
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=asked.uri, mime_type=kind, text=text)])

    return Server(
        "scorehouse",
        version=program_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


async def serve(database: Path) -> None:
    """Answer over stdin and stdout until stdin ends."""
    from mcp.server.stdio import stdio_server

    asked = server(database)
    async with stdio_server() as (incoming, outgoing):
        await asked.run(incoming, outgoing, asked.create_initialization_options())
