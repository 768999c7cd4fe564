"""Words that help, messages and documents do not use, as the field has others."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

NOT_OF_THE_FIELD = re.compile(
    r"\black(?:s|ing|ed)?\b|\basked for\b|\banew\b|\b(?:took|takes?) (?:no )?part\b|\b(?:take|takes) (?:it )?away\b"
    r"|\btold (?:as|by name)\b|\bduels?\b|\bfitting tests?\b|\btie margin\b|\blevel of significance\b"
    r"|(?<![-_])\b[Ww]orlds?\b(?!=)|\blaid aside\b|\bsides of (?:the|a) test\b|\bsaw (?:a|the|no) reference\b"
    r"|\bentr(?:y|ies) of the metrics task\b|\bno scores of segments\b|\bfrom this severity on\b|\bas you said\b"
    r"|\bnobody\b|\bfloat noise\b|\bdo(?:es)? not go together\b|\bwithout a look\b|\bin the place of segments\b"
)
"""Among them missing, selected, again, was submitted, removes, reported, applicable tests, simulated data sets."""

_PACKAGES = ("cli", "metaeval", "queries", "scorehouse", "warehouse")
_SQL = re.compile(r"\b(SELECT|FROM|WHERE|CREATE|ATTACH)\b")


def product_texts(root: Path) -> Iterator[tuple[str, str]]:
    """Place and text of each string of several words that the product may show: no documentation of code, no SQL."""
    for path in (one for package in _PACKAGES for one in sorted((root / package).rglob("*.py"))):
        tree = ast.parse(path.read_bytes())
        silent = {
            part
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            for part in ast.walk(node)
        }
        for node in ast.walk(tree):
            if node not in silent and isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = " ".join(node.value.split())
                if " " in text and not _SQL.search(text):
                    yield f"{path.relative_to(root)}:{node.lineno}", text


def formatted_texts(root: Path, *packages: str) -> Iterator[tuple[str, str]]:
    """Place and text of each f-string, with {} for values."""
    for path in (one for package in packages or _PACKAGES for one in sorted((root / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.JoinedStr):
                parts = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
                yield f"{path.relative_to(root)}:{node.lineno}", "".join(map(str, parts))


def contributor_texts(root: Path) -> Iterator[tuple[str, str]]:
    """Place and text of each documentation string and comment, of Python and of SQL."""
    for path in (one for package in (*_PACKAGES, "migrations") for one in sorted((root / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield f"{path.relative_to(root)}:{node.lineno}", " ".join(node.value.value.split())
        with tokenize.open(path) as lines:
            for token in tokenize.generate_tokens(lines.readline):
                if token.type == tokenize.COMMENT:
                    yield f"{path.relative_to(root)}:{token.start[0]}", token.string
    for path in (one for package in (*_PACKAGES, "migrations") for one in sorted((root / package).rglob("*.sql"))):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith(("--", "COMMENT")):
                yield f"{path.relative_to(root)}:{number}", line


def without_source(sentence: str) -> str:
    """A sentence without the system scores that its measure is based on.

    >>> without_source("A ranks first by pearson of judged means (0.900)."), without_source("A leads by pa (0.900).")
    ('A ranks first by pearson (0.900).', 'A leads by pa (0.900).')
    """
    return re.sub(r" of (submitted scores|judged means|means of all segments)(?= \()", "", sentence)
