"""Answers on a terminal fit it: nothing wider, no folded name, few lines on stderr, one screen of rows."""

import fcntl
import functools
import itertools
import os
import pty
import re
import shutil
import struct
import sys
import termios
import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cli.ending import run_program
from cli.main import COMMANDS, program
from cli.render import table
from metaeval import python_api
from metaeval.questions import QUESTIONS
from metaeval.questions.question import Question
from metaeval.results.answer import Answer
from metaeval.results.run import Run
from tests.cli.running import Ran
from tests.cli.words import SLICE, WORDS
from tests.helpers import but_slow, tiny_layout
from warehouse import Warehouse

WIDTHS = (80, 100, 160)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BAR = "━"  # of the progress, which is gone in the end
_MORE: tuple[tuple[str, ...], ...] = (
    ("list", "lps"),
    ("list", "metrics"),
    ("list", "systems", "{set}", "{lp}"),
    ("list", "humans"),
    ("list", "measures"),
    ("list", "protocols"),
    ("list", "issues"),
    ("list", "results"),
    ("rank", "{set}", "{lp}"),
    ("rank", "{set}"),
    ("rank", "all", "all", "-m", "pa"),
    ("rank", "{set}", "{lp}", "-m", "pa", "-m", "pearson", "--significance", "--resamples", "50"),
    ("rank", "{set}", "{lp}", "-m", "pa", "--intervals", "--ranges", "--resamples", "50"),
    ("rank", "{set}", "{lp}", "-m", "pa", "--by", "domain"),
    ("rank", "{set}", "--wide"),
    ("rank", "{set}", "{lp}", "--explain"),
    ("compare", "{set}", "{lp}", "{a}", "{b}", "-m", "pa", "--resamples", "50"),
    ("compare", "{set}", "-m", "pa", "--resamples", "50"),
    ("correlations", "{set}", "{lp}", "-m", "pearson"),
    ("protocol", "{set}", "--matrix"),
    ("counts", "{set}", "{lp}", "--by", "system"),
    ("thresholds", "{set}", "{lp}"),
    ("thresholds", "{set}", "{lp}", "--ties"),
    ("segments", "{set}", "{lp}", "{a}", "-n", "3"),
    ("segments", "{set}", "{lp}", "{a}", "--by", "document"),
    ("deltas", "{set}", "{lp}", "--hard"),
    ("noise", "{set}", "{lp}", "-m", "pearson", "--oracles"),
    ("trend", "--within"),
    ("systems", "{set}", "{lp}", "{a}"),
    ("audit", "{set}"),
)
_REAL_ALONE = ("trend", "--within")  # needs years of publications
SIMULATED = {"set": "sim24", "lp": "cs-uk", "a": "simBLEU", "b": "simchrF"}
REAL = {"set": "wmt23", "lp": "en-de", "a": "XCOMET-Ensemble", "b": "MetricX-23"}
_QUESTIONS = [(name, *WORDS[name]) for name in COMMANDS if name in QUESTIONS and name not in ("diff", "paper")]
_OTHERS: dict[str, tuple[tuple[str, ...], ...]] = {  # each after those before it, in one folder
    "diff": (("diff", "other.duckdb", "--testset", "sim24", "--lp", "ja-en", "--exit-zero"),),
    "paper": (("paper",), ("paper", "deutsch-2023", "figure-2")),
    "sql": (("sql", "SELECT * FROM scores ORDER BY ALL LIMIT 100"),),
    "load": (("load", "layout", "--db", "tiny.duckdb"),),
    "add": (
        ("add", "own.seg.score", "--metric", "Mine", "--reference-free", "--testset", "sim24", "--lp", "cs-uk"),
        ("remove", "Mine", "--dry-run"),
    ),
    "compute": (("compute", "bleu", "chrf", *SLICE, "--dry-run"),),
    "export": (("export", "folder", *SLICE),),
    "report": (("report", "sim24", "--lp", "cs-uk", "--section", "overview", "-o", "page.html"),),
    "explore": (("explore", "sim24", "--export", "page.html"),),
    "download": (("download", "--dry-run"),),
}
_NARRATIVE = frozenset({"demo", "mcp", "site"})  # goes through other commands; answers programs; writes pages
_ON_SIMULATED = [
    *_QUESTIONS,
    *(tuple(word.format(**SIMULATED) for word in words) for words in _MORE if words != _REAL_ALONE),
]


_DEAR = frozenset(
    {"add", "audit", "compare", "compute", "diff", "explore", "export", "load", "plan", "protocol", "report"}
    | {"thresholds", "trend"}
)
_EXTRAS = {"compute": "sacrebleu", "explore": "marimo"}


_ANSWER_COLUMNS: dict[tuple[str, ...], str] = {
    ("advise", "{set}", "{lp}", "-m", "pearson"): "metric ref best",
    ("annotators", "{set}", "{lp}"): "n_judgements n_outputs",
    ("annotators", "{set}", "--view", "sets"): "n_judgements n_outputs system_r",
    ("autorank", "{set}", "{lp}"): "# system autorank",
    ("compare", "{set}", "{lp}", "-m", "pearson"): "# metric value cluster",
    ("compare", "{set}", "{lp}", "{a}", "{b}", "-m", "pearson"): "test p",
    ("correlations", "{set}", "{lp}", "-m", "pearson"): "least like r",
    ("counts", "{set}", "{lp}"): "metric concordant",
    ("cutoff", "{set}", "{lp}", "{a}", "--good", "-1"): "threshold n_passed precision cost",
    ("cutoff", "{set}", "{lp}", "{a}", "--good", "-1", "--curve"): "threshold precision recall mcc",
    ("deltas", "{set}", "{a}", "--resamples", "50"): "protocol agreement delta safe",
    ("deltas", "{set}", "{a}", "--difference", "0.1", "--resamples", "50"): "protocol agreement low high",
    ("list",): "testset n_metrics n_humans",
    ("list", "measures"): "measure meaning",
    ("list", "metrics", "{set}", "{lp}"): "metric status levels",
    ("means", "{set}", "{lp}"): "scorer system mean",
    ("noise", "{set}", "{lp}", "{a}", *["-m", "pdp", "-m", "pearson", "-m", "acc_eq", "-m", "tau_b"]): (
        "pdp pearson acc_eq(by=item) tau_b(by=item)"
    ),
    ("protocol", "wmt24", "--on", "{set}", "--lp", "{lp}"): "metric overall",
    ("rank", "{set}", "{lp}", "-m", "pearson", "-m", "tau_b(by=item)"): "# metric pearson tau_b(by=item)",
    ("sample", "{set}", "{lp}", "--evaluate"): "method n gain",
    ("scatter", "{set}", "{lp}", "{a}"): "system human metric",
    ("sql", "--example", "reference-free"): "year testset lp gap",
    ("systems", "{set}", "{lp}"): "# system value cluster",
    ("thresholds", "{set}", "{lp}"): "metric value ε",
    ("trend", "-m", "pearson", "--anchor", "simBLEU", "--bridges"): "human other_human group value step agreement",
    ("trend", "-m", "pearson", "--anchor", "simBLEU", "--over-years"): "group n_years slope p least_p reason",
}
"""Columns that are the answer of a command."""
_ONLY_SIMULATED = {"deltas", "sample", "cutoff", "protocol", "annotators", "autorank", "trend", "advise"}


def _headings(ran: Ran) -> set[str]:
    """Words of what stands above and in the headings of the table, and of columns that are rows."""
    lines = ran.out.splitlines()
    ruled = next(place for place, line in enumerate(lines) if "─" in line and not line.strip("─ "))
    first = {line.split()[0] for line in lines[ruled + 1 :] if line.strip()}
    return {word for line in lines[:ruled] for word in line.replace(",", " ").split()} | first


def _filled(words: Sequence[str], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(word.format(**names) for word in words)


def _on_terminal(words: Sequence[str], width: int, database: Path, term: str = "xterm-256color") -> Ran:
    """How a command ends on a terminal so wide, and what is left to read there."""
    texts = ["", ""]
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("SCOREHOUSE_DB", str(database))
        patch.delenv("COLUMNS", raising=False)
        patch.setenv("TERM", term)
        patch.setenv("PAGER", "")  # which would write past the streams that are read here
        threads, files = [], []
        for place, name in enumerate(("stdout", "stderr")):
            reader, writer = pty.openpty()
            stack.callback(os.close, reader)
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
            files.append(os.fdopen(writer, "w", encoding="utf-8"))
            threads.append(threading.Thread(target=_drain, args=(reader, place, texts)))
            patch.setattr(sys, name, files[-1])
        for thread in threads:
            thread.start()
        code = run_program(program(), list(words))
        for file in files:
            file.close()
        for thread in threads:
            thread.join()
    out, err = ("\n".join(line for line in text.splitlines() if _BAR not in line) for text in texts)
    return Ran(int(code), out, err)


def _drain(reader: int, place: int, texts: list[str]) -> None:
    found = b""
    while True:
        try:
            piece = os.read(reader, 65536)
        except OSError:  # all of it is read
            break
        if not piece:
            break
        found += piece
    text = _ESCAPE.sub("", found.decode()).replace("\r\n", "\n")
    texts[place] = "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))


def _faults(ran: Ran, width: int, names: Sequence[str]) -> list[str]:
    """What does not fit a terminal so wide. names: of metrics and systems, which stand in one piece."""
    out, err = ran.out.splitlines(), ran.err.splitlines()
    found = [f"{len(line)} wide: {line}" for line in out if len(line) > width]
    found += [f"stderr, {len(line)} wide: {line}" for line in err if len(line) > min(width, 100)]
    found += [f"{len(out)} lines"] if len(out) > 60 else []
    found += [f"{len(err)} lines on stderr"] if len(err) > 6 else []
    for above, below in itertools.pairwise(out):
        starts = {match.start(): match[0] for match in re.finditer(r"\S+", below)}
        for match in re.finditer(r"\S+", above):
            if match.start() in starts and match[0] + starts[match.start()] in names:
                found.append(f"folded: {match[0]} {starts[match.start()]}")
    return found


@functools.cache
def _names(database: Path) -> list[str]:
    with Warehouse.open(database) as warehouse:
        rows = warehouse.rows("SELECT metric FROM metrics UNION SELECT system FROM systems")
    return [str(name) for (name,) in rows]


def _marked(cases: Iterable[Any]) -> list[Any]:
    """Commands, or their words, of which dear ones are slow."""
    slow = _DEAR | set(_ON_SIMULATED[len(_QUESTIONS) :])  # of further words
    return [pytest.param(one, marks=[pytest.mark.slow] if slow & {one, one[0]} else []) for one in cases]


@pytest.fixture
def _asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question is computed once, and its answer shown at each width."""
    found: dict[str, Answer] = {}

    def answered(question: type[Question], given: dict[str, Any], run: Run) -> Answer:
        key = f"{question.name} {given}"
        if key not in found:
            found[key] = python_api_answered(question, given, run)
        return found[key]

    python_api_answered = python_api.answered
    monkeypatch.setattr(python_api, "answered", answered)


def _all_faults(words: Sequence[str], database: Path) -> list[str]:
    names = _names(database)
    found = []
    for width in WIDTHS:
        ran = _on_terminal(words, width, database)
        found += [f"exit code {ran.code}: {ran.err}"] if ran.code else []
        found += [f"{width}: {fault}" for fault in _faults(ran, width, names)]
    return found


@pytest.mark.usefixtures("_asked_once")
@pytest.mark.parametrize("words", _marked(_ON_SIMULATED), ids=" ".join)
def test_answers_fit_the_terminal(words: tuple[str, ...], default_database: Path) -> None:
    assert _all_faults(words, default_database) == []


@pytest.mark.usefixtures("_asked_once")
@pytest.mark.parametrize("name", but_slow(_DEAR, _OTHERS))
def test_other_commands_fit_the_terminal(
    name: str, default_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in _EXTRAS:
        pytest.importorskip(_EXTRAS[name])
    monkeypatch.chdir(tmp_path)
    if name == "load":
        tiny_layout(tmp_path / "layout", testset="tiny24")
    elif name == "diff":
        shutil.copy(default_database, "other.duckdb")
    elif name == "add":
        with Warehouse.open(default_database) as warehouse:
            rows = warehouse.rows(
                "SELECT system, 0.5 FROM scores WHERE testset = 'sim24' AND lp = 'cs-uk' "
                "AND metric = 'simBLEU-refA' ORDER BY system, segment"
            )
        Path("own.seg.score").write_text("".join(f"{system}\t{value}\n" for system, value in rows), encoding="utf-8")
    for words in _OTHERS[name]:
        assert _all_faults(words, default_database) == []


def test_every_command_is_shown_on_a_terminal() -> None:
    shown = {words[0] for words in (*_ON_SIMULATED, *(one for several in _OTHERS.values() for one in several))}
    assert shown | _NARRATIVE == set(COMMANDS)


@pytest.fixture(scope="module")
def real(wmt23_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, since answers are stored and other tests read the file meanwhile."""
    return Path(shutil.copy(wmt23_database, tmp_path_factory.mktemp("real") / "wmt23.duckdb"))


@pytest.mark.slow
@pytest.mark.usefixtures("_asked_once")
@pytest.mark.parametrize("words", _MORE, ids=" ".join)
def test_answers_on_real_data_fit_the_terminal(words: tuple[str, ...], real: Path) -> None:
    assert _all_faults(_filled(words, REAL), real) == []


@pytest.mark.slow
@pytest.mark.parametrize("words", _ANSWER_COLUMNS, ids=" ".join)
def test_columns_that_are_the_answer_fit_100_characters(words: tuple[str, ...], default_database: Path) -> None:
    ran = _on_terminal(_filled(words, SIMULATED), 100, default_database)
    assert set(_ANSWER_COLUMNS[words].split()) <= _headings(ran)


@pytest.mark.slow
@pytest.mark.usefixtures("_asked_once")
@pytest.mark.parametrize("words", _ANSWER_COLUMNS, ids=" ".join)
def test_a_terminal_without_capabilities_shows_no_fewer_characters(words: tuple[str, ...], real: Path) -> None:
    filled = _filled(words, REAL)
    full, dumb = (_on_terminal(filled, 100, real, term).out for term in ("xterm-256color", "dumb"))
    assert dumb.split() == full.split()


@pytest.mark.slow
@pytest.mark.parametrize("words", [one for one in _ANSWER_COLUMNS if one[0] not in _ONLY_SIMULATED], ids=" ".join)
def test_columns_that_are_the_answer_fit_on_real_data(words: tuple[str, ...], real: Path) -> None:
    ran = _on_terminal(_filled(words, REAL), 100, real)
    assert set(_ANSWER_COLUMNS[words].split()) <= _headings(ran)


@pytest.mark.slow
@pytest.mark.parametrize("words", _ON_SIMULATED, ids=" ".join)
def test_no_answer_loses_a_column_that_its_question_calls_the_answer(
    words: tuple[str, ...], default_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[str] = []
    wanted: list[str] = []

    def fitting(columns: list[Any], width: int, important: Sequence[str] = ()) -> tuple[list[Any], list[str]]:
        kept, gone = fitted(columns, width, important)
        dropped[:], wanted[:] = gone, important
        return kept, gone

    fitted = table._fitting
    monkeypatch.setattr(table, "_fitting", fitting)
    assert _on_terminal(words, 100, default_database).code == 0
    assert set(wanted).isdisjoint(dropped)


@pytest.mark.slow
def test_both_outputs_of_a_segment_fit_100_characters(real: Path) -> None:
    ran = _on_terminal(("systems", "wmt23", "en-de", "GPT4-5shot", "ONLINE-W"), 100, real)
    headings = next(line.split() for line in ran.out.splitlines() if line.startswith("by "))
    assert headings == ["by", "segment", "domain", "system", "human", "output"]
    assert "more column" not in ran.out.partition("Segments that differ most")[2]


@pytest.mark.slow
def test_every_p_of_a_comparison_fits_100_characters(real: Path) -> None:
    names = ["MetricX-23", "COMET", "BLEU", "chrF", "YiSi-1", "CometKiwi", "XCOMET-Ensemble", "BLEURT-20"]
    ran = _on_terminal(("compare", "wmt23", "en-de", *names, "-m", "pearson"), 100, real)
    assert [str(rank) for rank in range(2, 9)] == ran.out.partition("p-values, by rank")[2].split()[1:8]
    assert "more column" not in ran.out


@pytest.mark.slow
def test_slopes_within_evaluation_sets_say_of_whom_they_are(real: Path) -> None:
    ran = _on_terminal(("trend", "wmt23", "en-de", "--within"), 100, real)
    assert {"name", "estimate", "low", "high", "reference-based:"} <= set(ran.out.split())


@pytest.mark.slow
def test_differences_of_warehouses_are_counted_at_100_characters(
    default_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Warehouse.open(default_database) as warehouse:
        lps = {lp for (lp,) in warehouse.rows("SELECT lp FROM evalsets WHERE testset = 'sim24'")}
    shutil.copy(default_database, "other.duckdb")
    for lp in sorted(lps)[1:]:
        assert _on_terminal(("remove", "sim24", lp, "--db", "other.duckdb"), 100, default_database).code == 0
    ran = _on_terminal(("diff", "other.duckdb", "--exit-zero"), 100, default_database)
    assert {"what", "added", "gone", "changed"} <= _headings(ran)


def test_what_does_not_fit_is_found() -> None:
    folded = "metric   r\n───────  ─\nKestrel  1\n-24          \n"
    assert _faults(Ran(0, folded, "x\n" * 7), 100, ["Kestrel-24"]) == ["7 lines on stderr", "folded: Kestrel -24"]
    assert len(_faults(Ran(0, "x" * 101 + "\n" * 70, "y" * 101), 100, [])) == 3
