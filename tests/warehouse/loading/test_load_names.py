"""Names and characters that no database takes: a fault of their file, and of no other."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import metric_tables, tiny_layout
from warehouse import LoadReport, Warehouse, load
from warehouse.names import visible_name

HALF = "half of a surrogate pair, which is not a character"


def _genmt(change: Callable[[str], str]) -> str:
    line = {"language_pair": "en-de_DE", "domain": "d", "document_id": "x", "metric_scores": {"M": [1.0]}}
    return json.dumps(line) + "\n" + change(json.dumps({**line, "document_id": "y"})) + "\n"


def _table(change: Callable[[str], str]) -> str:
    line = {"testset": "lab", "lp": "en-de", "metric": "M-src", "system": "A", "score": 0.5}
    return json.dumps(line) + "\n" + change(json.dumps({**line, "system": "B"})) + "\n"


def test_half_a_character_in_json_is_a_fault_with_its_line(tmp_path: Path) -> None:
    spoiled = {
        "wmt25-general-mt/automatic_scores/GPT-4.1.jsonl": _genmt(lambda line: line.replace('"y"', '"\\ud800"')),
        "wmt25-general-mt/automatic_scores/NLLB.jsonl": _genmt(lambda line: line.replace('"M"', '"\\uDC00M"')),
        "mine.jsonl": _table(lambda line: line.replace('"B"', '"\\ud800"')),
        "yours.jsonl": _table(lambda line: line.replace('"system"', '"\\ud800"')),
    }
    paths = [tmp_path / "files" / name for name in spoiled]
    for path, text in zip(paths, spoiled.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    layout = tiny_layout(tmp_path / "layout")
    report = load([*paths, layout], tmp_path / "w.duckdb")
    found = sorted((fault.path, fault.line, fault.found) for fault in report.faults)
    assert found == sorted((str(path), 2, HALF) for path in paths)
    assert ("tiny24", "loaded") in {(evalset.testset, evalset.status) for evalset in report.evalsets}


NAMES = (
    *("\\write18{id}", "{id}", "{a,b}", "a[b]{c}", "**", "[!a]", "a?b", "~", "$HOME", "a'b", 'a"b', "a;b", "-- x"),
    *("a%20b", "<script>", "=1+1", "\u202eabc", "\x1b[31m", "e\u0301", "\ufeffx", "\\", "\\*", "a\\nb", "two words"),
    *("None", "NULL"),
)


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LoadReport]:
    """A warehouse with a test set for each name, in which a metric and a system have it; and the report of its load."""
    folder = tmp_path_factory.mktemp("names")
    flat = {"Flat-src": metric_tables()["Flat-src"]}
    for number, name in enumerate(NAMES):
        layout = tiny_layout(folder / "in", testset=f"name{number}", humans={}, metrics=flat, texts=False)
        scores = layout / "metric-scores" / "en-de"
        text = (scores / "Flat-src.seg.score").read_text()
        (scores / f"{name}-refA.seg.score").write_text(text.replace("Ash", name))
    tiny_layout(folder / "in", testset="other24")
    return folder / "w.duckdb", load([folder / "in"], folder / "w.duckdb")


@pytest.mark.every(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_metric_of_any_name_is_loaded_or_is_a_fault_of_its_file(
    name: str, odd_names: tuple[Path, LoadReport]
) -> None:
    database, report = odd_names
    statuses = {evalset.testset: evalset.status for evalset in report.evalsets}
    assert statuses["other24"] == "loaded"
    testset = f"name{NAMES.index(name)}"
    faults = [Path(fault.path) for fault in report.faults if testset in Path(fault.path).parts]
    if faults:
        assert {path.name for path in faults} == {f"{name}-refA.seg.score"}
    else:
        assert statuses[testset] == "loaded"
        query = "SELECT DISTINCT metric FROM scores WHERE testset = $testset AND system = $name ORDER BY 1"
        with Warehouse.open(database) as warehouse:
            found = warehouse.rows(query, {"testset": testset, "name": visible_name(name)})
        assert found == [(f"{visible_name(name)}-refA",)]


@pytest.mark.slow
def test_names_of_the_layouts_files_lose_what_nobody_sees(tmp_path: Path) -> None:
    spellings = ["Fl\u00e4t ", "\u00a0Fl\u00e4t", "Fl\u00e4t\u200b", "Fla\u0308t", "\ufeffFl\u00e4t"]
    files = ["metric-scores/en-de/{}-src.seg.score", "human-scores/en-de.{}.seg.score"]
    names = {f"name{n}": file.format(one) for n, (file, one) in enumerate(itertools.product(files, spellings))}
    for testset, name in names.items():
        flat = {"Flat-src": metric_tables()["Flat-src"]}
        layout = tiny_layout(tmp_path / "in", testset=testset, metrics=flat, texts=False)
        (layout / name).write_bytes((layout / "metric-scores/en-de/Flat-src.seg.score").read_bytes())
    assert not load([tmp_path / "in"], tmp_path / "w.duckdb").faults
    with Warehouse.open(tmp_path / "w.duckdb") as warehouse:
        found = warehouse.rows("SELECT testset, base_metric FROM metrics UNION SELECT testset, human FROM humans")
    assert {testset for testset, name in found if name == "Fl\u00e4t"} == names.keys()
    assert all(name.isalpha() for _, name in found)
