"""How large and how plain the code is: a table of the figures in which the redesign's goals are stated.

    python -m benchmarks.house [--db FILE] [--root FOLDER]

With a warehouse, whose scores must include wmt23 en-de, the modules on the stack of a kernel are counted too.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGES = ("cli", "metaeval", "migrations", "queries", "scorehouse", "warehouse")
CONVERTED = re.compile(r"(pl\.)?(DataFrame|LazyFrame)$|dict\[str, (Any|object)\]$|(list|Iterator)\[dict\[str, \w+\]\]$")
PARTICIPLE = re.compile(
    r"_?([A-Z][a-z]*ed|Begun|Built|Cut|Done|Drawn|Found|Given|Held|Kept|Known|Laid|Left|Made|Read|Said|Seen|Set|Shown"
    r"|Taken|Told|Written|Pending)$"
)
NOUNS = {"Need", "Seed", "Speed", "Feed"}


def _lines(paths: Iterable[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def _files(root: Path, folders: Iterable[str], *endings: str) -> list[Path]:
    return [path for folder in folders for path in (root / folder).rglob("*") if path.suffix in endings]


def _is_dataclass(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any("dataclass" in ast.unparse(one) for one in node.decorator_list)


def declaration_lines(node: ast.ClassDef) -> int:
    """Lines of a class up to its first method: its decorator, documentation and fields."""
    first = min(one.lineno for one in node.decorator_list)
    methods = [
        min([one.lineno, *(decorator.lineno for decorator in one.decorator_list)])
        for one in node.body
        if isinstance(one, ast.FunctionDef)
    ]
    return (methods[0] if methods else (node.end_lineno or first) + 1) - first


def _classes(annotation: ast.expr | None) -> set[str]:
    """Plain names of classes in an annotation; none if it is of a class itself and not of its instances."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    names = {one.id for one in ast.walk(annotation) if isinstance(one, ast.Name)} if annotation else set()
    return set() if "type" in names else names


def converters(trees: Iterable[ast.Module]) -> Iterator[ast.FunctionDef]:
    """Methods of dataclasses, and functions that take one (or several) first, that return a frame, rows or JSON."""
    trees = list(trees)
    carriers = {
        one.name for tree in trees for one in ast.walk(tree) if isinstance(one, ast.ClassDef) if _is_dataclass(one)
    }
    for tree in trees:
        for home in ast.walk(tree):
            for one in getattr(home, "body", []) if isinstance(home, ast.ClassDef | ast.Module) else []:
                if not isinstance(one, ast.FunctionDef) or one.returns is None or one.name.startswith("__"):
                    continue
                first = [*one.args.posonlyargs, *one.args.args][:1]
                takes_one = _is_dataclass(home) or bool(first and _classes(first[0].annotation) & carriers)
                if takes_one and CONVERTED.match(ast.unparse(one.returns).strip("'\"")):
                    yield one


def participles(trees: Iterable[ast.Module]) -> list[str]:
    """Class names that consist of a single participle.

    >>> participles([ast.parse("class Asked: pass\\nclass LoadedFile: pass\\nclass _Done: pass\\nclass Seed: pass")])
    ['Asked', '_Done']
    """
    names = (one.name for tree in trees for one in ast.walk(tree) if isinstance(one, ast.ClassDef))
    return [name for name in names if PARTICIPLE.match(name) and name not in NOUNS]


def modules_on_the_stack(database: Path) -> list[str]:
    """Modules between `scorehouse rank` and the kernel of soft pairwise accuracy, outermost first; both included."""
    from cli.main import exit_code
    from metaeval import kernels

    seen: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is kernels.soft_pairwise_accuracy.__code__ and not seen:
            at: FrameType | None = frame
            while at is not None:
                name = str(at.f_globals.get("__name__"))
                if name.partition(".")[0] in PACKAGES and name not in seen:
                    seen.insert(0, name)
                at = at.f_back

    sys.setprofile(look)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            exit_code(["--db", str(database), "rank", "wmt23", "en-de", "-m", "spa"])
    finally:
        sys.setprofile(None)
    return seen


def figures(root: Path) -> Iterator[tuple[str, str]]:
    """Each figure with its name."""
    product = _files(root, PACKAGES, ".py", ".sql")
    for package in PACKAGES:
        yield f"lines of {package}, Python + SQL", f"{_lines(_files(root, [package], '.py', '.sql')):,}"
    yield "lines of the product, Python + SQL", f"{_lines(product):,}"
    yield "lines of tests", f"{_lines([*_files(root, ['tests'], '.py'), root / 'conftest.py']):,}"
    yield "lines of golden JSON", f"{_lines(_files(root, ['tests'], '.json')):,}"
    python = [path for path in product if path.suffix == ".py"]
    trees = [ast.parse(path.read_bytes()) for path in python]
    carriers = [one for tree in trees for one in ast.walk(tree) if isinstance(one, ast.ClassDef) if _is_dataclass(one)]
    yield "dataclasses", f"{len(carriers):,} ({sum(map(declaration_lines, carriers)):,} lines of declarations)"
    turned = list(converters(trees))
    n_lines = sum((one.end_lineno or 0) - one.lineno + 1 for one in turned)
    yield "functions that turn a dataclass into a frame, rows or JSON", f"{len(turned):,} ({n_lines:,} lines)"
    comments = [
        line for path in product for line in path.read_text(encoding="utf-8").splitlines() if _is_why(path, line)
    ]
    yield "lines of comments per 1,000", f"{1000 * len(comments) / _lines(product):.1f}"
    yield "classes named by a bare participle", f"{len(participles(trees)):,}"
    texts = [page.read_text(encoding="utf-8") for page in (root / "docs").glob("methods*/*.md")]
    yield "words of docs/methods", f"{sum(len(text.split()) for text in texts):,}"


def _is_why(path: Path, line: str) -> bool:
    """Whether a line is only a Python comment, and not one that tools read."""
    return path.suffix == ".py" and re.match(r"\s*#(?! (noqa|type:|fmt:|ruff:))", line) is not None


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house")
    parser.add_argument("--db", type=Path, help="a warehouse with wmt23 en-de")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout")
    given = parser.parse_args(arguments)
    rows = list(figures(given.root))
    if given.db is not None:
        modules = modules_on_the_stack(given.db)
        rows.append(("modules on the stack when the kernel of spa runs", f"{len(modules)}: {', '.join(modules)}"))
    for name, figure in rows:
        print(f"{name:60}{figure}")


if __name__ == "__main__":
    main()
