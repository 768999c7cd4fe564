"""The page that answers while one looks: its forms, its questions, its server, and the page in a browser."""

import json
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metaeval.question import fields_of
from metaeval.questions import HOMES, question_named
from tests.cli.browsing import browser
from tests.cli.running import PROGRAM, Scorehouse, refused
from tests.helpers import tiny_layout, together
from tests.warehouse.building import loaded
from warehouse import QuestionError
from warehouse.export.mtme import ScoreTable

pytest.importorskip("marimo", reason="the explore extra is not installed")

from cli.explore import forms
from cli.explore.asking import Asking, StoppedError, own_file
from cli.explore.names import Names

_FILLED = {"testset": "tiny24", "lp": "en-de", "seed": 7}
HOSTILE = "<img src=x onerror=window.ran=1>"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny task with a metric and texts that would be markup."""
    folder = tmp_path_factory.mktemp("hostile")
    systems, seg = (HOSTILE, "Beech", "Cherry"), np.arange(15.0).reshape(3, 5) * 7 % 11
    table = ScoreTable(systems=systems, seg=seg, sys=seg.mean(axis=1))
    odd = ScoreTable(systems=systems, seg=seg * 5 % 7, sys=(seg * 5 % 7).mean(axis=1))
    metrics = {f"{HOSTILE}-src": odd, "Fine-src": table}
    layout = tiny_layout(folder, systems=systems, humans={"mqm": table}, metrics=metrics, texts=False)
    return loaded(layout, folder / "a.duckdb")


@together("name", HOMES)
def test_an_untouched_form_says_nothing_and_a_filled_one_what_stands_in_it(name: str, hostile: Path) -> None:
    question, names = question_named(name), Names(hostile).by_kind("tiny24", "en-de")
    untouched = forms.form(question, names, {})
    assert forms.given(question, untouched.value) == {}
    assert {*untouched.value} <= {*fields_of(question)}
    filled = forms.form(question, names, _FILLED)
    known = fields_of(question)
    expected = {one: known[one].read(value) for one, value in _FILLED.items() if one in known}
    assert forms.given(question, filled.value) == expected
    assert len(forms.laid_out(question, filled.elements)) in (1, 2, 3)


def test_what_is_typed_is_read_as_its_field_has_it() -> None:
    question = question_named("rank")
    values = {"draws": "20", "measures": ["pa"], "metrics": "A*, B", "round_human": "0", "significance": True}
    expected = {"draws": 20, "measures": ("pa",), "metrics": ("A*", "B"), "round_human": 0, "significance": True}
    assert forms.given(question, values) == expected
    assert forms.given(question, {"significance": False, "draws": "1000"}) == {}
    with pytest.raises(QuestionError, match="expected a whole number"):
        forms.given(question, {"draws": "many"})


def test_questions_are_asked_one_after_the_other_until_an_error_and_remembered(hostile: Path) -> None:
    asking, found = Asking(hostile, is_waiting=True), []
    place = {"testset": "tiny24", "lp": "en-de", "measures": ["pa"]}
    asking.in_background(*((found.append, "rank", {**place, "lp": lp}) for lp in ("en-de", "xx-yy", "en-de")))
    first, error = found
    assert first.frame["measure"].unique().to_list() == ["pa"]
    assert isinstance(error, QuestionError)
    assert asking.answer("rank", place) is first
    assert asking.sql("SELECT 1 AS x").to_dicts() == [{"x": 1}]
    assert isinstance(asking.sql("COPY testsets TO 'x'"), QuestionError)


def test_an_answer_that_nobody_waits_for_any_more_is_put_nowhere(hostile: Path) -> None:
    asking, found = Asking(hostile, is_waiting=True), []
    place = {"testset": "tiny24", "lp": "en-de", "measures": ["pa"]}
    asking.answer("rank", place)

    def advance(what: str, done: int, total: int) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        asking._ask(((found.append, "rank", place),), advance)
    assert found == []


def test_a_dropped_file_keeps_its_name_and_leaves_its_folders(hostile: Path) -> None:
    path = own_file("../../Mine-src.seg.score", b"Beech\t1\n")
    assert (path.name, path.read_bytes()) == ("Mine-src.seg.score", b"Beech\t1\n")


def test_without_the_extra_a_line_says_how_to_get_it(scorehouse: Scorehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.exit_codes.find_spec", lambda name: None if name == "marimo" else find_spec(name))
    refused(scorehouse("explore"), 2, 'python3 -m pip install "scorehouse[explore]"')


def test_what_cannot_be_explored_is_refused_before_anything_starts(scorehouse: Scorehouse, tmp_path: Path) -> None:
    refused(scorehouse("--db", tmp_path / "none.duckdb", "explore"), 4, "no warehouse yet")
    refused(scorehouse("explore", "-o", "x.csv"), 2, "--export FILE writes it")
    refused(scorehouse("explore", "sim99"), 2, "unknown test set 'sim99'")
    refused(scorehouse("explore", "sim24", "xx"), 2, "unknown language pair 'xx' for sim24")


@pytest.mark.long("marimo writes a page: 8 seconds")
def test_the_page_is_written_as_it_opens(scorehouse: Scorehouse, hostile: Path, tmp_path: Path) -> None:
    ran = scorehouse("--db", hostile, "explore", "tiny24", "--export", tmp_path / "page.html")
    assert (ran.code, ran.notes) == (0, [f"wrote {tmp_path / 'page.html'}"])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Fine-src" in page
    assert HOSTILE not in page


@contextmanager
def _explored(database: Path, *words: str) -> Iterator[str]:
    """The address of a page, whose server ends by Ctrl-C behind it."""
    command = [*PROGRAM, "--db", str(database), "explore", *words, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
        finally:
            process.kill()


@pytest.mark.long("marimo serves a page: 5 seconds")
def test_the_page_is_for_those_who_have_its_token(hostile: Path) -> None:
    with _explored(hostile, "tiny24") as address:
        place, _, token = address.partition("?access_token=")
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", place)
        assert len(token) > 20
        with urllib.request.urlopen(place) as answer:
            assert "login" in answer.geturl()
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address) as answer:
            assert "login" not in answer.geturl()


_TEXT = """
const walk = (node) => node.nodeType === 3 ? node.textContent
  : (node.shadowRoot ? walk(node.shadowRoot) : "") + [...node.childNodes].map(walk).join(" ");
return walk(document.body)
"""
_FOUND = """
const all = (root) => [...root.querySelectorAll("*")]
  .flatMap((one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
const found = all(document).find((one) => one.matches(arguments[0])
  && (one.closest("tr") ?? one).textContent.includes(arguments[1]));
return found
"""
_CLICK = f"""
const found = ((...words) => {{ {_FOUND.replace("arguments", "words")} }})(...arguments);
found?.dispatchEvent(new MouseEvent("mousedown", {{bubbles: true}}));
found?.click();
return Boolean(found)
"""


@pytest.mark.long("a browser: 20 seconds")
def test_in_a_browser_one_clicks_from_a_ranking_to_a_segment_and_nothing_runs(hostile: Path, tmp_path: Path) -> None:
    own = tmp_path / "Mine-src.seg.score"
    own.write_text("".join(f"{name}\t{at}\n" for name in (HOSTILE, "Beech", "Cherry") for at in range(5)))

    def until(true: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + 60
        while not true():
            assert time.monotonic() < end, what
            time.sleep(0.2)

    def seen(opened: Any, words: str) -> None:
        until(lambda: words in opened.execute_script(_TEXT), f"{words!r} is not on the page")

    def clicked(opened: Any, kind: str, words: str) -> None:
        until(lambda: opened.execute_script(_CLICK, kind, words), f"no {kind} of {words!r}")

    with _explored(hostile, "tiny24") as address, browser() as opened:
        opened.get(address)
        seen(opened, HOSTILE)
        opened.execute_script(_FOUND, "input[type=file]", "").send_keys(str(own))
        seen(opened, "Mine-src")
        clicked(opened, "[role=checkbox]", HOSTILE)
        clicked(opened, "[role=checkbox]", "Beech")
        seen(opened, "tiny24 en-de, segment")
        clicked(opened, "[role=checkbox]", "Fine-src")
        seen(opened, f"Fine-src against {HOSTILE}-src")
        clicked(opened, "[role=tab]", "SQL")
        seen(opened, "question of the cookbook")
        assert opened.execute_script("return window.ran ?? null") is None
        axe = pytest.importorskip("axe_core_python.selenium", reason="axe-core-python is not installed")
        faults = axe.Axe().run(opened)["violations"]
        assert [one["id"] for one in faults if one["impact"] in ("critical", "serious")] == []
        assert Names(hostile).of("metric", "tiny24") == [f"{HOSTILE}-src", "Fine-src"], "what is dropped is not stored"
        assert "testset=tiny24" in opened.current_url
        sent = [json.loads(line["message"])["message"] for line in opened.get_log("performance")]
        asked = [one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"]
        place = address.partition("?")[0]
        assert [
            url for url in asked if not url.startswith((place, "data:", "blob:", place.replace("http", "ws")))
        ] == []
        assert [line for line in opened.get_log("browser") if line["level"] == "SEVERE"] == []
