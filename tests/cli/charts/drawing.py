"""Every kind of chart as a user asks for it, and what any of them must hold."""

import itertools
import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import altair as alt
import pytest

from cli.charts.drawing import parts_of_chart
from tests.cli.running import Ran, Scorehouse

GOLDEN = Path(__file__).parent / "golden_charts"
FEW = ("--metrics", "simBLEU-refA", "--metrics", "Oriole-refA", "--metrics", "Kestrel-24-*", "--metrics", "Dice-src")
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rank": ("rank", ("--resamples", "20")),
    "rank_clusters": ("rank", ("-m", "acc_eq", "--significance", "--resamples", "20")),
    "rank_by_domain": ("rank", ("-m", "pearson", "--by", "domain")),
    "compare": ("compare", ("-m", "pa", "--resamples", "20")),
    "correlations": ("correlations", ()),
    "systems": ("systems", ("--resamples", "50")),
    "thresholds": ("thresholds", ("--points", "5")),
    "ties": ("thresholds", ("--ties",)),
    "counts": ("counts", ("--by", "none")),
}
"""Charts that take a test set, a language pair and metrics: name -> command and its options."""


def specification(scorehouse: Scorehouse, path: Path, *words: object) -> dict[str, Any]:
    """The chart that a command draws, as JSON."""
    ran = scorehouse(*words, "-q", "--chart", path)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(path.read_text("utf-8"), parse_constant=_refused)
    return found


def _refused(constant: str) -> None:
    raise AssertionError(f"{constant} in a specification")


def faults(found: dict[str, Any]) -> list[str]:
    """What is wrong with a specification: no Vega-Lite, data sets that are not there, no title, nothing below it."""
    alt.VConcatChart.validate({**found, "datasets": {}})
    wrong = [f"no data set {name!r}" for name in sorted(_named(found) - set(found["datasets"]))]
    unused = set(found["datasets"]) - _named(found)
    wrong += [f"data set {name!r} is not drawn" for name in sorted(unused) if found["datasets"][name]]
    parts = parts_of_chart(found)
    wrong += [] if parts.title and (parts.lines or parts.signature) else ["no title"]
    return wrong


def heights_of_titles(picture: str) -> list[float]:
    """The heights of the titles of a chart and of its panels, in pixels from above. picture: as SVG."""
    heights: list[float] = []

    def walk(part: Element, above: float) -> None:
        move = re.match(r"translate\([^,]+,([^)]+)\)", part.get("transform", ""))
        above += float(move[1]) if move else 0.0
        if "role-title-text" in part.get("class", ""):
            (text, *_) = part
            at = re.match(r"translate\([^,]+,([^)]+)\)", text.get("transform", ""))
            heights.append(above + (float(at[1]) if at else 0.0))
        for one in part:
            walk(one, above)

    walk(fromstring(picture), 0.0)
    return sorted(heights)


def _named(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["data"]["name"]} if isinstance(part.get("data"), dict) and "name" in part["data"] else set()
        return own.union(*(_named(value) for name, value in part.items() if name != "datasets"))
    return set().union(*map(_named, part)) if isinstance(part, list) else set()


def has_answer(ran: Ran, path: Path) -> bool:
    """Whether a chart was drawn; if not, the command must have said in one line why there is none."""
    if ran.code == 0:
        return path.exists()
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert len(ran.err.splitlines()) == 1, ran.err
    assert not path.exists()
    return False


def check_golden(name: str, found: dict[str, Any]) -> None:
    """Compare a chart with the one that was looked at; of each data set the first rows and how many there are.

    `RENEW_CHARTS=1 pytest -n 0 tests/cli/charts/test_chart_kinds.py` writes the files anew; look at the difference.
    """
    short = {**found, "datasets": {key: _few(rows) for key, rows in found["datasets"].items()}}
    for key in ("config", "$schema"):  # the theme, and the version of the library
        short.pop(key, None)
    path = GOLDEN / f"{name}.json"
    if os.environ.get("RENEW_CHARTS"):
        path.write_text("\n".join(_lines(short)) + "\n", "utf-8")
    assert _like(short, json.loads(path.read_text("utf-8"))), f"{path.name}: RENEW_CHARTS=1 pytest, then look at it"


_OPENED = {"vconcat", "concat", "hconcat", "layer", "spec", "encoding", "mark", "datasets"}


def _lines(part: Any, head: str = "") -> list[str]:
    """JSON with a channel, a mark or a data set a line."""
    rows = part if isinstance(part, list) else [part]
    is_opened = head.endswith(('"encoding": ', '"datasets": ')) or any(
        isinstance(row, dict) and _OPENED & row.keys() for row in rows
    )
    if not is_opened:
        return [head + json.dumps(part, ensure_ascii=False)]
    named = [(f'"{key}": ', part[key]) for key in part] if isinstance(part, dict) else [("", row) for row in part]
    pieces = [[f" {line}" for line in _lines(value, name)] for name, value in named]
    for piece in pieces[:-1]:
        piece[-1] += ","
    first, last = "{}" if isinstance(part, dict) else "[]"
    return [head + first, *itertools.chain(*pieces), last]


def _few(rows: list[Any]) -> dict[str, Any]:
    return {"n": len(rows), "first": _short(rows[:3])}


def _short(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _short(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_short(value) for value in part]
    return float(f"{part:.6g}") if isinstance(part, float) else part


def _like(found: Any, expected: Any) -> bool:
    """Equal, numbers up to their sixth digit."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return found.keys() == expected.keys() and all(_like(found[key], expected[key]) for key in expected)
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(map(_like, found, expected))
    if isinstance(expected, float) or isinstance(found, float):
        return bool(found == pytest.approx(expected, rel=1e-4, abs=1e-6)) if None not in (found, expected) else False
    return bool(found == expected)
