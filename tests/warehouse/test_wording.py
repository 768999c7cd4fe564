"""One file is no files: messages count with `counted`, or with words that stand whatever the number is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    path
    for name in ("warehouse", "queries", "metaeval", "cli")
    for path in sorted((ROOT / name).rglob("*.py"))
    if "kernels" not in path.parts  # their errors are of arrays
]
NO_NUMBERS = {
    *("pairwise.py: system scores", "tables.py: systems", "segment.py: scores", "remarks.py: system scores: "),
    "system_pairs.py: scores of one system alone",
    *("item_scores.py: scores the same output as object ", "noise.py: errors "),
    *("findings.py: segments each", "headlines.py: shared outputs each).", "headlines.py: human scores)."),
    *("decisions.py: human scores, and they take at least ", "metric_tests.py: human scores, and it takes at least "),
    *("metric_tests.py: segment scores", "head_to_head.py: segments of both "),
    "tables.py: scores for ",
    *("cutoff.py: scores", "composed.py: scores challenge sets, and ", "show.py: scores of "),
}
"""Kinds of scores, a verb, a mean, and a range such as 9 to 14."""
MANY = re.compile(
    r" (more |other |different |such |\w+ed )?"
    r"((files|rows|lines|systems|segments|metrics|pairs|columns|judgements|scores|texts|sources|annotators|resamples)"
    r"|(clusters|faults|notes|errors|warnings|findings|reasons|values|ratings|migrations|outputs|documents|domains)"
    r"|((evaluation|test) sets)|((human|segment|system) scores)|(language pairs))\b"
)
_WHATEVER = re.compile(r"(\b(of|of the|all|the|least|most|than|fewer than|first|best|both score|over|to|from|by)) $")
_NEEDED = re.compile(r"[^.;]*: at least \d")


def numbers_before_many(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines where a text has a number in front of a noun for many; not where "of" and the like stand before it."""
    asserted = {part for node in ast.walk(tree) if isinstance(node, ast.Assert) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr) or node in asserted:
            continue
        for place, part in enumerate(node.values[:-1]):
            then, before = node.values[place + 1], node.values[place - 1] if place else None
            if not isinstance(part, ast.FormattedValue) or not isinstance(then, ast.Constant):
                continue
            first = str(before.value) if isinstance(before, ast.Constant) else ""
            if MANY.match(str(then.value)) and not _WHATEVER.search(first) and not _NEEDED.match(str(then.value)):
                yield node.lineno, f"{str(then.value)[:40]}"


@pytest.mark.slow
def test_no_message_says_one_files() -> None:
    assert len(SOURCES) > 200
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in SOURCES
        for line, text in numbers_before_many(ast.parse(path.read_text("utf-8")))
        if f"{path.name}:{text}" not in NO_NUMBERS
    ]
    assert found == []


@pytest.mark.parametrize("source", ['f"{n} files"', 'f"skipped {len(x)} more rows"', 'f"{a}: {b} test sets, {c}"'])
def test_the_test_above_finds_what_it_looks_for(source: str) -> None:
    assert list(numbers_before_many(ast.parse(source)))
