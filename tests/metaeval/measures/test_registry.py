"""What the rest of the program may know of measures: nothing but what they answer."""

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

import metaeval
from metaeval.measures.applicable import TESTS
from metaeval.measures.registry import DEFINITIONS, parse_measure
from warehouse import QuestionError

ROOT = Path(metaeval.__file__).resolve().parents[1]
NAMES = {definition.name for definition in DEFINITIONS.values()}
OWN = ("metaeval/measures/", "metaeval/kernels/")  # kernels have statistics of the same names
SOURCES = [
    path
    for package in ("cli", "metaeval", "queries", "warehouse", "migrations")
    for path in sorted((ROOT / package).rglob("*.py"))
    if not str(path.relative_to(ROOT)).startswith(OWN)
]


def _is_name(node: ast.AST) -> bool:
    """Whether an expression is the name of something called a measure: `measure.name`, `rule.measure.name`."""
    if not isinstance(node, ast.Attribute) or node.attr != "name":
        return False
    owner = node.value
    return (isinstance(owner, ast.Name) and owner.id == "measure") or (
        isinstance(owner, ast.Attribute) and owner.attr == "measure"
    )


def _texts(nodes: list[ast.expr]) -> Iterator[str]:
    """Texts in expressions; of lists and tuples what is in them."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield from _texts(node.elts)


def branches(tree: ast.AST) -> list[int]:
    """Lines that decide by a measure's name: `measure.name`, or a name of one, compared or looked up."""
    lines = []
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_text = node.func.attr in ("startswith", "endswith")
            asked = [node.func.value, *node.args] if is_text else node.args if node.func.attr == "get" else []
        elif isinstance(node, ast.Subscript):
            asked = [node.slice] if any(map(_is_name, ast.walk(node.slice))) else []
        elif isinstance(node, ast.Match):
            asked = [node.subject]
        elif isinstance(node, ast.MatchValue):
            asked = [node.value]
        is_asked = any(_is_name(part) for one in asked for part in ast.walk(one))
        if is_asked or any(text.partition("(")[0] in NAMES for text in _texts(asked)):
            lines.append(node.lineno)  # type: ignore[attr-defined]
    return lines


@pytest.mark.slow
def test_nobody_but_measures_asks_for_their_names() -> None:
    assert len(SOURCES) > 100
    found = [f"{path.relative_to(ROOT)}:{line}" for path in SOURCES for line in branches(ast.parse(path.read_text()))]
    assert found == []


def test_a_measure_says_all_that_the_rest_asks() -> None:
    for text, definition in DEFINITIONS.items():
        measure = parse_measure(text)
        assert definition.measure == measure
        assert set(measure.tests) <= set(TESTS), text
        assert measure.why_tests, text
        assert ("pairs" in measure.tests) == (measure.pair_statistic is not None) == measure.is_calibrated, text


def test_a_measure_travels_to_other_processes() -> None:
    for text in (*DEFINITIONS, "pearson(top=5)", "tau_b(by=none, epsilon=0.1sd)", "spa(n=inf)"):
        measure = parse_measure(text)
        assert pickle.loads(pickle.dumps(measure)) == measure


def test_a_registered_measure_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        DEFINITIONS["mine"] = DEFINITIONS["pa"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        parse_measure("pa").values = ()  # type: ignore[misc]


@pytest.mark.parametrize("word", ["segment", "SEG", "segments"])
def test_item_is_offered_to_who_groups_by_segment(word: str) -> None:
    with pytest.raises(QuestionError, match=r"expected one of none, item, .*; did you mean 'item', the outputs"):
        parse_measure(f"pearson(by={word})")
