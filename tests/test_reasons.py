"""A message of ours is joined from values, and nobody takes it apart again: who wants a part takes the field."""

import ast
import functools
import pickle
from pathlib import Path

import pytest

from metaeval.notes import Hinted
from metaeval.protocols.scoring import NothingScoredError
from tests.helpers import together
from warehouse.errors import IT, QuestionError

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [path for name in ("warehouse", "queries", "metaeval", "cli") for path in sorted((ROOT / name).rglob("*.py"))]
APART = {
    *("partition", "rpartition", "split", "rsplit", "splitlines", "removeprefix", "removesuffix", "replace"),
    *("startswith", "endswith", "find", "index", "rfind", "rindex", "count"),
}
"""Methods of a text that read parts of it."""
MESSAGES = {"brief", "message", "note", "predicate", "reason", "remark", "why"}
"""Variables and fields that hold a message, or a part of one."""
ALSO_OURS = {"ValueError", "Exception", "BaseException", "RuntimeError"}
"""Errors that come from our own code as well as from elsewhere."""
ALLOWED = {
    # the place where messages are joined and shortened
    "warehouse/errors.py:_naming",
    "warehouse/errors.py:shortened",
    "warehouse/download/release.py:_short",
    # messages of DuckDB, whose errors come as RuntimeError, too
    "warehouse/database/opening.py:interruptible",
    "warehouse/database/connection.py:store_results",
    "cli/ending.py:_is_interruption",
    # messages of what reads or computes: Polars, fastexcel, sacreBLEU, Spark, click
    "warehouse/readers/text/named_columns.py:_parquet",
    "warehouse/readers/campaign_workbooks.py:_first_line",
    "warehouse/own/sacrebleu.py:_scorers",
    "queries/spark.py:spark_session",
    "cli/ending.py:_repeated",
}
"""File and function that may read messages: those of other libraries, where the type of the error does not say it."""


@functools.cache
def _ours() -> set[str]:
    """Names of errors that can be ours."""
    trees = (ast.parse(path.read_text("utf-8")) for path in SOURCES)
    classes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {node.name for node in classes if node.name.endswith("Error")} | ALSO_OURS


def _is_ours(kind: ast.expr | None) -> bool:
    """Whether an error of a type, or of one of several, can be ours; a type of a library stands behind its name."""
    return kind is None or any(isinstance(node, ast.Name) and node.id in _ours() for node in ast.walk(kind))


class _Scope(ast.NodeVisitor):
    """What a function does with messages. errors: names of errors that can be ours; texts: variables with a message."""

    def __init__(self) -> None:
        self.errors: set[str] = set()
        self.texts: set[str] = set()
        self.found: list[tuple[int, str, str]] = []
        self.function = "module"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self.errors, self.texts, self.function
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        typed = {one.arg for one in arguments if one.annotation is not None and _is_ours(one.annotation)}
        self.errors, self.texts, self.function = self.errors | typed, set(self.texts), node.name
        self.generic_visit(node)
        self.errors, self.texts, self.function = before

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        before = self.errors
        if node.name is not None:
            self.errors = self.errors | {node.name} if _is_ours(node.type) else self.errors - {node.name}
        self.generic_visit(node)
        self.errors = before

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                (self.texts.add if self._is_message(node.value) else self.texts.discard)(target.id)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in APART and self._is_message(node.func.value):
                self._note(node)
            matching = node.func.attr in ("search", "match", "fullmatch", "sub", "findall", "finditer")
            if matching and any(map(self._is_message, node.args)):
                self._note(node)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        is_in = isinstance(node.ops[0], ast.In | ast.NotIn)
        if is_in and self._is_message(node.comparators[0]) and not self._is_message(node.left):
            self._note(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.slice, ast.Slice) and self._is_message(node.value):
            self._note(node)
        self.generic_visit(node)

    def _note(self, node: ast.expr) -> None:
        self.found.append((node.lineno, self.function, ast.unparse(node)))

    def _is_message(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Name(id="str"), args=[ast.Name(id=name)]):
                return name in self.errors or name in MESSAGES
            case ast.Call(func=ast.Name(id="str"), args=[inner]):
                return self._is_message(inner)
            case ast.Call(func=ast.Attribute(value=value, attr=method)):
                return method in ("strip", "lower", "casefold", "rstrip", "lstrip") and self._is_message(value)
            case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
                return name in MESSAGES
            case ast.Name(id=name):
                return name in MESSAGES or name in self.texts
            case ast.BoolOp(values=values):
                return any(map(self._is_message, values))
        return False


def taken_apart(tree: ast.AST) -> list[tuple[int, str, str]]:
    """Line, function and code of each place where a message of ours is taken apart."""
    scope = _Scope()
    scope.visit(tree)
    return scope.found


@pytest.mark.slow
def test_no_message_of_ours_is_taken_apart() -> None:
    assert len(SOURCES) > 300
    places = {
        (path.relative_to(ROOT).as_posix(), function, line, code)
        for path in SOURCES
        for line, function, code in taken_apart(ast.parse(path.read_text("utf-8")))
    }
    found = [f"{path}:{line}: {code}" for path, function, line, code in places if f"{path}:{function}" not in ALLOWED]
    assert sorted(found) == []
    assert {f"{path}:{function}" for path, function, _, _ in places} == ALLOWED


@together(
    "line",
    [
        "str(error).partition(' (rank')[0]",
        "str(error).lower().removeprefix('measure')",
        "text = str(error); text.replace('wmt23 en-de', 'it')",
        "row.note.partition('; ')[2]",
        "str(entry.found.reason).replace(' of wmt23', '')",
        "str(row['reason'] or 'no value').split(' in wmt')[0]",
        "'rank --explain' in str(error)",
        "note.startswith('without')",
        "re.sub(' by wmt2.', '', str(error))",
        "error.reason[:10]",
    ],
)
def test_the_test_above_finds_what_it_looks_for(line: str) -> None:
    code = f"def f():\n    try:\n        g()\n    except QuestionError as error:\n        {line}\n"
    assert len(taken_apart(ast.parse(code))) == 1


@together("kind", ["duckdb.Error", "OSError", "(duckdb.IOException, UnicodeDecodeError)"])
def test_messages_of_others_may_be_read(kind: str) -> None:
    code = f"try:\n    g()\nexcept {kind} as error:\n    first = str(error).splitlines()[0]\n"
    assert taken_apart(ast.parse(code)) == []


def test_an_error_comes_back_from_another_process_with_its_fields() -> None:
    error = pickle.loads(pickle.dumps(QuestionError(f"{IT} has no domains", where="wmt23 en-de", hint="drop --by")))
    assert (str(error), error.predicate, error.hint) == (
        "wmt23 en-de has no domains (drop --by)",
        "no domains",
        "drop --by",
    )
    scored = NothingScoredError("no metric can be scored", by="wmt24", hint="--all-metrics")
    again = pickle.loads(pickle.dumps(scored))
    assert (str(again), again.by_any) == ("no metric can be scored by wmt24 (--all-metrics)", "no metric can be scored")
    note = pickle.loads(pickle.dumps(Hinted("3 metrics are excluded", "--explain says why")))
    assert (note, note.text) == ("3 metrics are excluded (--explain says why)", "3 metrics are excluded")


def test_what_stands_for_the_evaluation_set_is_nothing_special_where_none_is_named() -> None:
    assert str(QuestionError(f"unknown metric '{IT}'")) == f"unknown metric '{IT}'"
