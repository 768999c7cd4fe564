"""The documentation: its tables and outputs are the program's own, its examples run, its links lead somewhere."""

import doctest
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.main import COMMANDS, program
from docs import reference
from docs.generate import DOCUMENTS, answered, output_of, renewed, sections
from metaeval.measures.registry import DEFINITIONS, parse_measure
from metaeval.studies.papers import PAPERS
from metaeval.studies.papers.items import printed_values
from queries.cookbook import recipes
from tests.helpers import together
from tests.wording import NOT_OF_THE_FIELD

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
METHODS = "\n".join(
    (ROOT / "docs" / "methods" / f"{page}.md").read_text(encoding="utf-8")
    for page in ("agreement", "significance", "years", "beyond-rankings")
)


@pytest.fixture(scope="module")
def copied_database(simulated_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the simulated task: examples may store results."""
    return Path(shutil.copy(simulated_database, tmp_path_factory.mktemp("docs") / "copy.duckdb"))


@pytest.fixture
def run(copied_database: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], str]:
    monkeypatch.delenv("SCOREHOUSE_DB", raising=False)
    return lambda words: output_of(words, copied_database)


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return sections()


@together("name", DOCUMENTS)
def test_generated_tables_are_up_to_date(name: str, generated: dict[str, str]) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert renewed(text, generated) == text, "run `python -m docs.generate`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_shown_output_is_what_the_command_prints(page: Path, run: Callable[[list[str]], str]) -> None:
    text = page.read_text(encoding="utf-8")
    assert answered(text, run) == text, "run `python -m docs.generate`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_the_field_s_words(page: Path) -> None:
    assert not NOT_OF_THE_FIELD.findall(" ".join(page.read_text(encoding="utf-8").split()))


@pytest.mark.slow
def test_the_reference_has_every_command_measure_view_and_example() -> None:
    commands = reference.commands()
    assert [name for name in COMMANDS if f"## {name}\n\n```text\nUsage: scorehouse" not in commands] == []
    assert [name for name in DEFINITIONS if f"| `{name}` |" not in reference.measures()] == []
    schema = reference.schema()
    assert [row["name"] for row in reference._dictionary() if f"`{row['name']}`" not in schema] == []
    assert reference.cookbook().count("$ scorehouse sql --example ") == len(recipes())


def _shown_commands(page: Path) -> list[list[str]]:
    """The words of every command that a page shows, without `scorehouse`, pipes, comments and what is optional."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh|console|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += [shown for shown in re.findall(r"`([^`\n]+)`", text) if " [" not in shown]
    steps = [step.removeprefix("$ ").strip() for line in lines for step in re.split(r" (?:&&|\|) ", line)]
    found = [shlex.split(step, comments=True)[1:] for step in steps if step.startswith("scorehouse ")]
    return [words for words in found if words and not words[0].startswith("-")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_shown_command_is_one_that_the_program_understands(page: Path) -> None:
    """Its options and their values are legal; a command's name alone, or with that of an option, is a name."""
    group = program()
    for words in _shown_commands(page):
        command = group.get_command(None, words[0])
        assert command is not None, words
        if len(words) > 2 or (len(words) == 2 and not words[1].startswith("-")):
            command.make_context(words[0], words[1:])


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_shown_commands_on_the_simulated_task_run(
    page: Path, copied_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that name one of its test sets, and nothing that stands for a name or file of one's own."""
    monkeypatch.chdir(tmp_path)
    database = Path(shutil.copy(copied_database, tmp_path / "own.duckdb"))
    for words in _shown_commands(page):
        if any(re.match(r"sim2\d", word) for word in words) and not set(words) & set(_OWN):
            output_of(words, database)


_OWN = ("--dask", "OLD", "NEW", "MyMetric", "en-de.MyMetric.seg.score", "mine.toml")


def test_the_readme_is_short_and_has_the_two_first_steps() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.split()) <= 700
    for steps in ("python3 -m pip install . && scorehouse demo", 'python3 -m pip install -e ".[dev]" && pytest'):
        assert f"```sh\n{steps}\n```" in readme


@pytest.mark.slow
def test_examples_in_python_run(simulated_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(simulated_database, "demo.duckdb")
    for page in (ROOT / "README.md", ROOT / "docs" / "python.md"):
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        assert blocks
        names: dict[str, object] = {}
        for block in blocks:
            exec(compile(block, page.name, "exec"), names)
        assert names["ranking"].height > 0  # type: ignore[attr-defined]


def test_sql_examples_run(run: Callable[[list[str]], str]) -> None:
    blocks = re.findall(r"```sql\n(.*?)```", (ROOT / "docs" / "sql.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        assert len(run(["sql", block]).splitlines()) > 3


def _heading(measure: str) -> str:
    """The name, with the parameter that tells it from the first measure of that name, if it is not the first."""
    definition = DEFINITIONS[measure]
    is_first = next(one for one in DEFINITIONS.values() if one.name == definition.name) is definition
    telling = next((parameter.name for parameter in definition.parameters if parameter.always), None)
    return f"### `{definition.name}`" if is_first else f"### `{definition.name}({telling}=…)`"


@together("measure", DEFINITIONS)
def test_every_measure_is_worked_out_on_an_example(measure: str) -> None:
    heading = _heading(measure)
    assert METHODS.count(f"{heading}\n") == 1
    section = METHODS.partition(f"{heading}\n")[2].partition("\n## ")[0].partition("\n### ")[0]
    assert ">>> " in section


def test_the_worked_examples_come_out() -> None:
    blocks = re.findall(r"```pycon\n(.*?)```", METHODS, re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/methods", "docs/methods", 0)
    report: list[str] = []
    result = doctest.DocTestRunner().run(examples, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 30


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "methods"], ids=lambda page: page.name)
def test_further_worked_examples_come_out(page: Path) -> None:
    examples = doctest.DocTestParser().get_doctest(page.read_text(encoding="utf-8"), {}, page.name, page.name, 0)
    report: list[str] = []
    assert doctest.DocTestRunner().run(examples, out=report.append).failed == 0, "".join(report)


def test_own_tables_are_ranked_as_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, table in zip(
        ("judgements.csv", "scores.csv"), re.findall(r"```csv\n(.*?)```", text, re.DOTALL), strict=True
    ):
        Path(name).write_text(table, encoding="utf-8")
    shown = re.findall(r"```text\n(\$ scorehouse .*?)```", text, re.DOTALL)[0]
    commands = [line.split()[2:] for line in shown.splitlines() if line.startswith("$ ")]
    *_, ranking = [output_of(words, tmp_path / "mine.duckdb") for words in commands]
    assert ranking == shown[shown.index("MyMetric-ref ") :]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_opens_with_a_question_and_an_answer(page: Path) -> None:
    """Of the documentation: within the first forty lines, below the heading, and no heading of a part before it."""
    if page.parent == ROOT or page.name == "sources.md":
        return
    lines = page.read_text(encoding="utf-8").splitlines()[1:60]
    first = next((at for at, line in enumerate(lines) if "?" in line), None)
    assert first is not None, "no question"
    assert first < 6, "no question at the beginning"
    assert any(re.match(r"\$ scorehouse |>>> |scorehouse |    print\(|!\[", line) for line in lines[first:]), (
        "no answer"
    )


def test_measures_in_the_text_can_be_parsed() -> None:
    for page in PAGES:
        for line in re.findall(r"scorehouse rank .*", page.read_text(encoding="utf-8")):
            for text in re.findall(r"-m \"?([a-z_0-9]+(?:\([^)]*\))?)\"?", line):
                parse_measure(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_inside_the_project_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if re.fullmatch(r"(\.\./)*reference/[a-z]+\.md", target):  # made with the site
            assert f"reference/{target.rpartition('/')[2]}" in reference.PAGES
            continue
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_no_place_on_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(?:home|tmp|root|work|Users|opt)/", text)


def test_the_page_of_papers_has_every_item_with_the_number_of_its_printed_values() -> None:
    text = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    for paper in PAPERS.values():
        for item in paper.items:
            n_printed = sum(one.item == item.name for one in printed_values(paper.name))
            row = f"| {paper.name} | `{item.name}` | {item.title} | {n_printed} |"
            assert row in text, "run `python -m docs.papers WAREHOUSE` on a warehouse with the real scores"
    assert re.search(r"^\| all \|.*\| 0 \| \d+ \|$", text, re.MULTILINE), "a printed value is neither met nor explained"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_of_the_project_that_a_page_names_is_there(page: Path) -> None:
    """Those that somebody is told to add have a name in capitals."""
    rooms = "cli|docs|metaeval|migrations|queries|tests|warehouse"
    named = re.findall(rf"`((?:{rooms})/[^`\s]+)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not re.search(r"NAME|NNNN", name) and not (ROOT / name).exists()] == []
    assert named or page.name not in ("CONTRIBUTING.md", "reliability.md")


def test_the_site_tells_language_models_its_pages_and_commands() -> None:
    text = reference.llms_txt()
    pages = [page.replace(".html", ".md") for page in re.findall(r"\]\((\S+)\)", text)]
    assert [page for page in pages if page not in reference.PAGES and not (ROOT / "docs" / page).exists()] == []
    assert [name for name in COMMANDS if f"`scorehouse {name}`: " not in text] == []
