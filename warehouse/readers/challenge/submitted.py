"""WMT25's challenge sets as submitted: `SET.LP.src.txt`, `.ref.txt`, `.hyp-K.txt`, `.meta.txt`, one item per line."""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.languages import language_pair_called
from warehouse.facts.testsets import grades_of
from warehouse.names import is_language_pair
from warehouse.readers.challenge.items import Items
from warehouse.wording import counted

_NAME = re.compile(r"(?P<set>[A-Za-z0-9_-]+)\.(?P<lp>[a-z]{2,3}-[A-Za-z_]+)\.(?P<part>src|ref|meta|hyp-?\d+)\.txt")
_HEADER = ("domain-category", "doc_id")


def part_of(path: Path) -> tuple[str, str, str] | None:
    """Test set, language pair and part of a file (src, ref, meta, hyp-1); None if it belongs to no such set.

    The file must be in the folder of its set, because authors republish sets with documents that the task did not use.
    """
    named = _NAME.fullmatch(path.name)
    if named is None or path.parent.name != named["set"] or not is_language_pair(named["lp"]):
        return None
    if not meta_beside(path, named["set"], named["lp"]).is_file():
        return None
    part = re.sub(r"hyp-?(\d+)", r"hyp-\1", named["part"])
    return f"challengeset2025.{named['set']}", language_pair_called(named["lp"]), part


def meta_beside(path: Path, of: str, lp: str) -> Path:
    """The file that lists the items."""
    return path.with_name(f"{of}.{lp}.meta.txt")


def read_submitted(parts: Sequence[tuple[Path, str]], testset: str) -> tuple[dict[Path, list[Fault]], Items | None]:
    """The items of one language pair from its parts; and faults by file.

    Phenomena come from a file of types in the same folder (`SET.LP.types`, `SET.LP.internal`), if it exists.
    """
    faults: dict[Path, list[Fault]] = {}
    lines = {part: _lines(path) for path, part in parts}
    paths = {part: path for path, part in parts}
    if "meta" not in lines:
        return {}, None
    places = [line.split("\t") for line in lines["meta"]]
    if places and tuple(places[0]) == _HEADER:
        places = places[1:]
    for number, cells in enumerate(places, start=1):
        if len(cells) < 2:
            path = paths["meta"]
            faults.setdefault(path, []).append(Fault(str(path), number, "no tab", "DOMAIN and DOCUMENT"))
    n = len(places)
    for part, texts in lines.items():
        if part != "meta" and len(texts) != n:
            path = paths[part]
            found = counted(len(texts), "line")
            faults.setdefault(path, []).append(Fault(str(path), 0, found, f"{n}, as in {paths['meta'].name}"))
    hypotheses = sorted((part for part in lines if part.startswith("hyp-")), key=lambda part: int(part[4:]))
    if faults or not hypotheses:
        return faults, None
    phenomena = _phenomena(paths["meta"], n)
    grades = grades_of(testset)
    frame = pl.concat(
        pl.DataFrame(
            {
                "item": range(n),
                "phenomenon": phenomena,
                "domain": [cells[0] for cells in places],
                "document": [cells[1] for cells in places],
                "source": lines.get("src"),
                "reference": lines.get("ref"),
                "text": lines[hypothesis],
            },
            schema_overrides=dict.fromkeys(("phenomenon", "source", "reference"), pl.String),
        ).with_columns(
            pl.lit(None, dtype=pl.String).alias("class"),
            hypothesis=pl.lit(hypothesis),
            grade=pl.lit(grades.get(hypothesis), dtype=pl.Float64),
        )
        for hypothesis in hypotheses
    )
    return {}, Items(frame)


def _phenomena(meta: Path, n: int) -> list[str] | list[None]:
    """The phenomenon of each item, from the first file of types with one line per item; None without such a file."""
    for ending in ("types", "internal"):
        path = meta.with_name(meta.name.replace(".meta.txt", f".{ending}"))
        if path.is_file() and len(found := _lines(path)) == n:
            return found
    return [None] * n


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8-sig")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
