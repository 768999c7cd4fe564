"""The page that answers while one looks: its forms, its questions, its server, and the page in a browser."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from metaeval.questions import QUESTIONS, question_named
from tests.cli.browsing import browser
from tests.cli.running import PROGRAM, Scorehouse, refused
from tests.helpers import tiny_layout, together
from tests.warehouse.building import loaded
from warehouse import QuestionError
from warehouse.export.mtme import ScoreTable
from warehouse.fields import fields_of

pytest.importorskip("marimo", reason="the explore extra is not installed")

from cli.explore import forms, showing
from cli.explore.asking import Asking, StoppedError, own_file
from cli.explore.names import Names
from cli.explore.serving import guarded

_FILLED = {"testset": "tiny24", "lp": "en-de", "seed": 7}
HOSTILE = "<img src=x onerror=window.ran=1>"
ADDRESS = "https://evil.example/x.png"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny task with a metric and texts that would be markup."""
    folder = tmp_path_factory.mktemp("hostile")
    systems, seg = (HOSTILE, "Beech", "Cherry"), np.arange(15.0).reshape(3, 5) * 7 % 11
    table = ScoreTable(systems=systems, seg=seg, sys=seg.mean(axis=1))
    odd = ScoreTable(systems=systems, seg=seg * 5 % 7, sys=(seg * 5 % 7).mean(axis=1))
    metrics = {f"{HOSTILE}-src": odd, "Fine-src": table, "Address-src": odd}
    layout = tiny_layout(folder, systems=systems, humans={"mqm": table}, metrics=metrics, texts=False)
    database = loaded(layout, folder / "a.duckdb")
    with duckdb.connect(str(database)) as connection:
        for column in ("name", "base_name"):
            connection.execute(f"UPDATE internal.scorer SET {column} = $1 WHERE {column} LIKE 'Address%'", [ADDRESS])
    return database


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of files that would leave a file `ran` if anything of them were imported or read as settings."""
    canary = f"open({str(tmp_path / 'ran')!r}, 'w')"
    here = tmp_path / "here"
    (here / "cli").mkdir(parents=True)
    for name in ("polars", "marimo", "duckdb", "warehouse", "sitecustomize", "cli/__init__"):
        (here / f"{name}.py").write_text(canary)
    (here / "evil").mkdir()
    (here / "evil" / "altair.py").write_text(canary)
    for name in (".marimo.toml", "marimo.toml", "pyproject.toml"):
        table = "tool.marimo.runtime" if name == "pyproject.toml" else "runtime"
        (here / name).write_text(f"[{table}]\npythonpath = [{str(here / 'evil')!r}]\n")
    return here


@pytest.mark.slow
@together("name", QUESTIONS)
def test_an_untouched_form_says_nothing_and_a_filled_one_what_stands_in_it(name: str, hostile: Path) -> None:
    question, names = question_named(name), Names(hostile).by_kind("tiny24", "en-de")
    untouched = forms.form(question, names, {})
    assert forms.values_given(question, untouched.value) == {}
    assert {*untouched.value} <= {*fields_of(question)}
    filled = forms.form(question, names, _FILLED)
    known = fields_of(question)
    expected = {one: known[one].read(value) for one, value in _FILLED.items() if one in known}
    assert forms.values_given(question, filled.value) == expected
    assert len(forms.laid_out(question, filled.elements)) in (1, 2, 3)


def test_what_is_typed_is_read_as_its_field_has_it() -> None:
    question = question_named("rank")
    values = {"resamples": "20", "measures": ["pa"], "metrics": "A*, B", "round_human": "0", "significance": True}
    expected = {"resamples": 20, "measures": ("pa",), "metrics": ("A*", "B"), "round_human": 0, "significance": True}
    assert forms.values_given(question, values) == expected
    assert forms.values_given(question, {"significance": False, "resamples": "1000"}) == {}
    with pytest.raises(QuestionError, match="expected a whole number"):
        forms.values_given(question, {"resamples": "many"})


@pytest.mark.slow
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


def test_an_error_of_the_program_ends_the_waiting(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asking, said = Asking(hostile), []
    monkeypatch.setattr(showing.mo, "current_thread", lambda: SimpleNamespace(should_exit=False))
    monkeypatch.setattr(showing.mo.output, "replace", said.append)
    monkeypatch.setattr(asking, "answer", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        asking._watched(((said.append, "rank", {}),))
    assert [part in one.text for part, one in zip(("computing", "failed"), said, strict=True)] == [True, True]


def test_rows_are_read_with_what_answers_first_and_no_column_without_a_value(hostile: Path) -> None:
    asking = Asking(hostile, is_waiting=True)
    for name, more in {"trend": {"measure": "pa"}, "compare": {"measure": "pa"}, "means": {}}.items():
        answer = asking.answer(name, {"testset": "tiny24", "lp": "en-de", **more})
        frame = showing.readable(answer)
        rows = answer.for_reading().frame
        assert set(frame.columns) == {one for one in rows.columns if rows[one].count()}, name
        first = [one for one in answer.question.important if one in frame.columns]
        assert set(first) <= {*frame.columns[: len(first) + 1]}, name


def test_numbers_have_the_decimals_and_limits_of_the_answer(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: dict[str, Any] = {}
    monkeypatch.setattr(showing.mo.ui, "table", lambda rows, **how: shown.update(how["format_mapping"]))
    answer = Asking(hostile, is_waiting=True).answer("means", {"testset": "tiny24", "lp": "en-de"})
    rows = pl.DataFrame({"threshold": [0.87403], "p": [0.0], "value": [0.5]})
    more = {"digits": {"threshold": 5}, "least": {"p": [0.001]}, "reading": None}
    monkeypatch.setattr(showing.mo, "vstack", lambda parts: parts)
    showing.answer_parts(replace(answer, frame=rows, **more))
    assert [shown[name](rows[name][0]) for name in rows.columns] == ["0.87403", "<0.001", "0.5000"]


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


def test_what_lies_where_the_copy_to_change_belongs_is_neither_opened_nor_written_to(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place, target = tmp_path / "scorehouse-explore", tmp_path / "target"
    for make in (place.mkdir, place.touch, lambda: place.symlink_to(target)):
        make()
        refused(scorehouse("explore", "--edit"), 2, "scorehouse-explore is there already", "marimo edit")
        assert not target.exists()
        place.rmdir() if place.is_dir() else place.unlink()


def test_a_page_that_marimo_does_not_write_is_not_reported_as_written(
    scorehouse: Scorehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "cli.commands.explore.started",
        lambda *words: subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE),
    )
    (tmp_path / "page.html").write_text("an older one")
    refused(scorehouse("explore", "--export", tmp_path / "page.html"), 2, "marimo wrote no page")


def test_a_port_that_is_taken_is_refused_in_one_line(scorehouse: Scorehouse) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(scorehouse("explore", "--port", port, "--no-browser"), 2, f"--port {port}", "leave it out")


@together(
    ("headers", "is_answered"),
    [
        ([("host", "127.0.0.1:80")], True),
        ([("host", "localhost:80"), ("origin", "http://localhost:80")], True),
        ([("host", "127.0.0.1:80"), ("origin", "http://127.0.0.1:80")], True),
        ([("host", "127.0.0.1:81")], False),
        ([("host", "evil.example:80")], False),
        ([("host", "127.0.0.1.evil.example:80")], False),
        ([("host", "127.0.0.1:80"), ("host", "evil.example")], False),
        ([], False),
        ([("host", "127.0.0.1:80"), ("origin", "https://evil.example")], False),
        ([("host", "127.0.0.1:80"), ("origin", "https://127.0.0.1:80")], False),
        ([("host", "127.0.0.1:80"), ("origin", "http://127.0.0.1:81")], False),
        ([("host", "127.0.0.1:80"), ("origin", "null")], False),
    ],
)
def test_the_page_answers_its_own_address_and_its_own_pages(headers: list[tuple[str, str]], is_answered: bool) -> None:
    asked, sent = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["type"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers]
    for kind in ("http", "websocket"):
        asyncio.run(guarded(app, 80)({"type": kind, "headers": raw}, receive, send))
    assert asked == (["http", "websocket"] if is_answered else [])
    if is_answered:
        assert b"default-src 'self'" in dict(sent[0]["headers"])[b"content-security-policy"]
    else:
        assert (sent[0]["status"], sent[-1]["type"]) == (403, "websocket.close")


@pytest.mark.long("marimo writes a page: 8 seconds")
def test_the_page_is_written_as_it_opens_and_nothing_of_the_working_folder_runs(hostile: Path, folder: Path) -> None:
    command = [*PROGRAM[:1], "-P", *PROGRAM[1:], "--db", str(hostile), "explore", "tiny24", "--export", "page.html"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "wrote page.html\n")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Fine-src" in page
    assert HOSTILE not in page
    assert not folder.with_name("ran").exists()


def _exists(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def _explored(
    database: Path, folder: Path, *words: str, end: signal.Signals = signal.SIGINT, within: float = 3
) -> Iterator[str]:
    """The address of a page; behind it a signal to the program alone ends its server, and nothing is left."""
    temporary = folder.with_name("temporary")
    temporary.mkdir(exist_ok=True)
    command = [*PROGRAM[:1], "-P", *PROGRAM[1:], "--db", str(database), "explore", *words, "--no-browser"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment, start_new_session=True
    ) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            yield address
            port = int(address.partition("?")[0].rpartition(":")[2])
            assert _exists(port)
            process.send_signal(end)
            ends = time.monotonic() + within
            while process.poll() is None or _exists(port) or [*temporary.iterdir()]:
                assert time.monotonic() < ends, (process.poll(), _exists(port), [*temporary.iterdir()])
                time.sleep(0.05)
            assert process.returncode == (0 if end == signal.SIGINT else -end)
        finally:
            process.kill()


@pytest.mark.long("marimo serves a page: 5 seconds")
def test_the_page_is_for_those_who_have_its_token(hostile: Path, folder: Path) -> None:
    with _explored(hostile, folder, "tiny24", end=signal.SIGTERM) as address:
        place, _, token = address.partition("?access_token=")
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", place)
        assert len(token) > 20
        with urllib.request.urlopen(place) as answer:
            assert "login" in answer.geturl()
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address) as answer:
            assert "login" not in answer.geturl()
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(urllib.request.Request(address, headers=headers))
    assert not folder.with_name("ran").exists()


@pytest.mark.long("marimo serves two pages: 10 seconds")
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("words", "end"), [((), "SIGHUP"), (("--edit",), "SIGKILL")])
def test_the_page_ends_with_the_program_however_that_ends(
    words: tuple[str, ...], end: str, hostile: Path, folder: Path
) -> None:
    with _explored(hostile, folder, *words, end=signal.Signals[end]):
        pass
    assert not folder.with_name("ran").exists()


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
def test_in_a_browser_one_clicks_from_a_ranking_to_a_segment_and_nothing_runs(
    hostile: Path, folder: Path, tmp_path: Path
) -> None:
    own = tmp_path / "Mine-src.seg.score"
    own.write_text("".join(f"{name}\t{at}\n" for name in (HOSTILE, "Beech", "Cherry") for at in range(5)))

    def until(true: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + 60
        while not true():
            assert time.monotonic() < end, what
            time.sleep(0.2)

    def seen(opened: Any, words: str) -> None:
        until(
            lambda: words in opened.execute_script(_TEXT).replace("\N{WORD JOINER}", ""),
            f"{words!r} is not on the page",
        )

    def clicked(opened: Any, kind: str, words: str) -> None:
        until(lambda: opened.execute_script(_CLICK, kind, words), f"no {kind} of {words!r}")

    with _explored(hostile, folder, "tiny24") as address, browser() as opened:
        opened.get(address)
        seen(opened, HOSTILE)
        seen(opened, ADDRESS)
        assert opened.execute_script(_FOUND, f"[src='{ADDRESS}'], [href='{ADDRESS}']", "") is None
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
        assert Names(hostile).of("metric", "tiny24") == [f"{HOSTILE}-src", "Fine-src", ADDRESS], (
            "what is dropped is not stored"
        )
        assert "testset=tiny24" in opened.current_url
        sent = [json.loads(line["message"])["message"] for line in opened.get_log("performance")]
        asked = [one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"]
        place = address.partition("?")[0]
        assert [
            url for url in asked if not url.startswith((place, "data:", "blob:", place.replace("http", "ws")))
        ] == []
        assert [line for line in opened.get_log("browser") if line["level"] == "SEVERE"] == []


_ON_PAGE = """
const all = (root) => [...root.querySelectorAll("*")]
  .flatMap((one) => [one, ...(one.shadowRoot ? all(one.shadowRoot) : [])]);
const frames = all(document).filter((one) => one.tagName === "IFRAME").map((one) => one.contentDocument);
const beyond = (frame) => [...frame.querySelectorAll("svg *")].map((one) => one.getBoundingClientRect())
  .filter((box) => box.width && (box.left < -1 || box.right > frame.documentElement.clientWidth + 1)).length;
const wide = [document, ...frames].map(({documentElement: one}) => one.scrollWidth - one.clientWidth);
return {
  drawn: frames.filter((one) => one.querySelector("svg path")).length,
  beyond: frames.map(beyond),
  wide: Math.max(...wide),
  rooms: frames.map((one) => one.defaultView.frameElement.clientHeight - one.documentElement.scrollHeight),
};
"""


@pytest.mark.long("a browser: 30 seconds")
def test_every_view_fits_into_wide_and_narrow_windows(hostile: Path, folder: Path) -> None:
    views = {"Ranking": 1, "Over the years": 1, "Phenomena": 0, "Any question": 0, "SQL": 0}
    with _explored(hostile, folder, "tiny24") as address, browser() as opened:
        for view, n_charts in views.items():
            opened.get(f"{address}&view={view.replace(' ', '%20')}")
            for width in (1280, 1024, 390):
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
                opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                end = time.monotonic() + 60
                while (found := opened.execute_script(_ON_PAGE))["drawn"] < n_charts or any(found["beyond"]):
                    assert time.monotonic() < end, (view, width, found)
                    time.sleep(0.2)
                assert found["wide"] <= 0, (view, width, found)
                assert all(room > -2 for room in found["rooms"]), (view, width, found)
            assert f"view={view.split()[0]}" in opened.current_url
