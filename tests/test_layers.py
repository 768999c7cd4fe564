"""Who may import whom: data flow one way, kernels know arrays alone, and asking for help is light."""

import ast
import importlib.util
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

from cli.main import COMMANDS
from metaeval.measures.registry import DEFINITIONS
from metaeval.questions import QUESTIONS
from tests.helpers import together
from warehouse import load
from warehouse.simulation import write_shared_task
from warehouse.simulation.evalset import SimulatedEvalset

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cli", "metaeval", "queries", "warehouse", "migrations", "scorehouse")
IMPORT = re.compile(r"(?:^|[:;])[ \t]*(?:from|import)\b((?:[^(\n\\]|\\\n)*(?:\([^)]*\))?)", re.MULTILINE)
"""What looks like an import, with all its names, wherever it stands."""
HEAVY = ("duckdb", "polars", "numpy", "scipy", "pydantic")
HEAVY_ROOMS = ("warehouse.readers", "warehouse.staging", "warehouse.loading", "warehouse.database")
ONE_BY_ONE = {f"metaeval.questions.{module}" for module, _ in QUESTIONS.values()}
"""Modules of questions, of which a command imports its own."""
UNTESTED = {
    *("draws", "prepared", "clusters"),
    *("system_tests", "saddlepoint"),  # the p-values of spa
    *("assisted_means", "confidence_sequences", "trueskill"),  # public kernels
}
"""Kernels of resampling that a question may load if it tests nothing."""
LATE = {
    "queries/adhoc.py",  # imports Polars while the process of a query starts
    "queries/catalog.py",  # completion: no Polars
    "queries/listing.py",  # the same
    "warehouse/database/connection.py",  # completion: no Polars, no NumPy
    "warehouse/database/frames.py",  # completion, and never DuckDB: see there
}
"""Modules of the warehouse and of queries that import a heavy library where it is used, and for whom."""


def _modules(tree: ast.AST) -> Iterator[str]:
    """Every module that some code imports, wherever the import stands; a relative import stays in its package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level != 1:
            yield "." * node.level + (node.module or "")


def _top_level(tree: ast.Module) -> ast.Module:
    """The code that runs when the module is imported: without functions, and without what types alone need."""

    class Bare(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
            return None

        def visit_If(self, node: ast.If) -> ast.AST | None:
            is_for_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            return None if is_for_types else self.generic_visit(node)

    bare = Bare().visit(tree)
    assert isinstance(bare, ast.Module)
    return bare


def _late(path: Path) -> set[str]:
    """What a module imports in functions, or for types, and not at its top."""
    return set(_modules(_parsed(path))) - set(_modules(_top_level(_parsed(path))))


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _with_word(package: str, *words: str) -> Iterator[Path]:
    """Files of a package that have the words somewhere in their text: no other can have them in its code."""
    for path in (ROOT / package).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if all(word in text for word in words):
            yield path


def test_the_import_contracts_are_kept(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == 0, capsys.readouterr().out


def test_no_module_imports_itself_by_way_of_others() -> None:
    """The contracts compare siblings; a package and a module in it can be a circle, too."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert imports["metaeval.measures.registry"]
    TopologicalSorter(imports).prepare()  # raises CycleError, which lists the circle


@together("package", PACKAGES)
def test_scipy_is_imported_inside_the_functions_that_need_it(package: str) -> None:
    for path in _with_word(package, "scipy"):
        modules = set(_modules(_top_level(_parsed(path))))
        assert not {module for module in modules if module.partition(".")[0] == "scipy"}, path


@pytest.mark.slow
@together("package", ["queries", "warehouse"])
def test_libraries_are_imported_at_the_top_of_modules_but_where_that_would_cost_time(package: str) -> None:
    late = {
        str(path.relative_to(ROOT))
        for path in (ROOT / package).rglob("*.py")
        if _late(path) & {"duckdb", "polars", "numpy"}
    }
    assert late == {path for path in LATE if path.startswith(f"{package}/")}


@together("package", ["cli", "metaeval"])
def test_sql_stands_below_the_statistics(package: str) -> None:
    for path in _with_word(package, "SELECT", "FROM"):
        if path.name == "demo.py":
            continue  # shows the reader SQL of their own
        tree = _parsed(path)
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings:
                assert not ("SELECT " in node.value and " FROM " in node.value), f"{path}:{node.lineno}"


@pytest.mark.slow
def test_long_statements_of_the_warehouse_stand_in_files_of_sql() -> None:
    for path in (ROOT / "warehouse").rglob("*.py"):
        for node in ast.walk(_parsed(path)):
            text = ""
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            elif isinstance(node, ast.JoinedStr):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
            text = text.strip()
            if re.match("(SELECT|WITH|INSERT INTO|UPDATE|DELETE FROM|CREATE) ", text):
                assert text.count("\n") < 5, f"{path}:{node.lineno}"


@pytest.mark.slow
def test_benchmarks_and_generators_of_pages_import_names_that_exist() -> None:
    """They are outside the types and mostly outside the tests."""
    for path in itertools.chain(*((ROOT / folder).rglob("*.py") for folder in ("benchmarks", "docs"))):
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGES:
                module = importlib.import_module(str(node.module))
                for alias in node.names:
                    there = hasattr(module, alias.name) or importlib.util.find_spec(f"{node.module}.{alias.name}")
                    assert there, f"{path}:{node.lineno}"


def test_tests_share_builders_and_never_import_one_another() -> None:
    for path in itertools.chain(*((ROOT / folder).rglob("*.py") for folder in ("tests", "benchmarks"))):
        imports = " ".join(IMPORT.findall(path.read_text(encoding="utf-8")))
        if not re.search(r"\.\s|\btest_|\bconftest\b", imports):
            continue  # most files: they need not be parsed
        for node in ast.walk(_parsed(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name.rpartition(".")[2] for alias in node.names}
                names |= {(node.module or ".").rpartition(".")[2]} if isinstance(node, ast.ImportFrom) else set()
                private = {name for name in names if name.startswith("test_") or name in ("conftest", "")}
                assert not private, f"{path}:{node.lineno}"


def test_folders_of_tests_are_those_of_the_packages() -> None:
    """What is tested lies where its tests do; a folder of a package has tests of its own, or is one of those named."""
    tested = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("*/test_*.py")}
    there = {path.parent.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert tested <= there | {Path()}
    by_others = {"migrations", "queries/cookbook", "metaeval/kernels", "metaeval/questions", "cli/views"}
    by_others |= {"metaeval/charts"}
    by_others |= {"warehouse/readers/text", "warehouse/readers/mtme"}
    assert {str(folder) for folder in there - tested} <= by_others


def _loaded_by(*lines: list[str]) -> set[str]:
    """The modules that a new process has loaded once it has run these command lines."""
    program = f"""
import sys
from cli.main import exit_code
codes = [exit_code(words) for words in {lines!r}]
print(*sys.modules, file=sys.stderr)
sys.exit(max(codes))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.slow
@together("words", [["--help"], ["rank", "--help"], ["sql", "--help"], ["load", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    assert _loaded_by(words) & {*HEAVY, *HEAVY_ROOMS} == set()


@pytest.mark.slow
def test_the_help_of_a_command_loads_nothing_heavy_and_no_other_command_or_question() -> None:
    program = f"""
import sys
from cli.main import exit_code
for name in [None, *{list(COMMANDS)!r}]:
    before = {{*sys.modules}}
    exit_code(["--help"] if name is None else [name, "--help"])
    print(name, *sys.modules.keys() - before, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    for line in done.stderr.splitlines():
        name, *loaded = line.split()
        assert set(loaded) & {*HEAVY, *HEAVY_ROOMS} == set(), name
        rooms = [one for one in loaded if one in ONE_BY_ONE or one.startswith(("cli.commands.", "cli.report.question"))]
        assert len(rooms) == (name not in ("None", "remove")), f"{name}: {rooms}"  # add and remove share a module


def test_the_flag_of_an_option_is_known_without_any_question() -> None:
    program = "import sys; from cli.hints import flag; print(flag('rank.reference', 'refB'), 'metaeval' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "rank --ref refB False\n"


@pytest.fixture(scope="module")
def one_evalset(simulated_task: tuple[SimulatedEvalset, ...], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Test set and language pair of an evaluation set, the folder with its files, and a warehouse of them."""
    files = tmp_path_factory.mktemp("files")
    write_shared_task(files, simulated_task[:1])
    database = tmp_path_factory.mktemp("warehouse") / "scores.duckdb"
    load([files], database)
    return [simulated_task[0].testset, simulated_task[0].lp, str(files), str(database)]


@pytest.mark.slow
def test_what_computes_nothing_loads_no_arrays(one_evalset: list[str]) -> None:
    testset, lp, files, database = one_evalset
    lines = (["load", files], ["list", "testsets"], ["show", testset, lp, "1"])
    loaded = _loaded_by(*([*words, "--db", database] for words in lines))
    assert "numpy" not in loaded
    assert loaded & ONE_BY_ONE == {
        "metaeval.questions.listing",
        "metaeval.questions.show",
    }


@pytest.mark.slow
def test_what_tests_nothing_loads_no_kernel_of_a_test(one_evalset: list[str]) -> None:
    testset, lp, _, database = one_evalset
    measures = [word for name, one in DEFINITIONS.items() if one.is_of_scores for word in ("-m", name)]
    ranked = _loaded_by(["rank", testset, lp, *measures, "--db", database])
    assert not {one for one in ranked if one.startswith(("metaeval.studies.significance", "metaeval.studies.people"))}
    scored = _loaded_by(["protocol", "wmt23", "--on", testset, "--lp", lp, "--db", database])
    for loaded in (ranked, scored):
        kernels = {one.rpartition(".")[2] for one in loaded if one.startswith("metaeval.kernels.resampling.")}
        assert kernels <= UNTESTED


def test_means_in_views_are_added_up_in_order() -> None:
    for path in (ROOT / "migrations").rglob("*.sql"):
        for mean in re.findall(r"\bavg\(.*", path.read_text(encoding="utf-8")):
            assert "ORDER BY" in mean or "::INTEGER" in mean, f"{path.name}: {mean}"


@together("package", PACKAGES)
def test_no_module_takes_means_from_the_standard_library(package: str) -> None:
    for path in _with_word(package, "statistics"):
        assert "statistics" not in set(_modules(_parsed(path))), path


@together("package", ["cli", "metaeval"])
def test_joined_frames_keep_their_order_or_are_sorted(package: str) -> None:
    """Polars joins in any order unless told otherwise, so an answer could differ from one run to the next."""
    for path in _with_word(package, ".join(", "polars"):
        in_order: set[ast.expr] = set()
        for node in ast.walk(_parsed(path)):  # what is called on a join comes before the join
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr == "sort" or node in in_order:
                    in_order.add(node.func.value)
                named = {one.arg: getattr(one.value, "value", None) for one in node.keywords}
                is_join = node.func.attr == "join" and named.keys() & {"on", "left_on"} and named.get("how") != "cross"
                assert not is_join or "maintain_order" in named or node in in_order, f"{path}:{node.lineno}"
