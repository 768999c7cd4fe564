"""DEMETR (Karpinska et al. 2022): one JSON file per perturbation of translations into English."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.readers.challenge.items import Items, without_repeats
from warehouse.readers.text.tables import first_faults

TESTSET = "demetr"
_NAME = re.compile(r"(?P<class>base|critical|major|minor)_id\d+_\w+\.json")
_LANGUAGES = {
    "chinese_simple": "zh",
    "czech": "cs",
    "french": "fr",
    "german": "de",
    "hindi": "hi",
    "italian": "it",
    "japanese": "ja",
    "polish": "pl",
    "russian": "ru",
    "spanish": "es",
}
_TEXTS = ("src_sent", "eng_sent", "mt_sent", "pert_sent", "lang_tag", "pert_name")


def is_demetr(path: Path) -> bool:
    """Whether a file has a DEMETR name and a DEMETR beginning."""
    if _NAME.fullmatch(path.name) is None:
        return False
    with path.open("rb") as file:
        return b'"src_sent"' in file.read(1 << 16)


def pairs_of(path: Path) -> tuple[str, ...]:
    """The language pairs of a file; German-English for the faults of a file that cannot be read."""
    rows, _ = _rows(path)
    tags = {row["lang_tag"] for row in rows if row.get("lang_tag") in _LANGUAGES}
    return tuple(sorted(f"{_LANGUAGES[tag]}-en" for tag in tags)) or ("de-en",)


def read_demetr(path: Path, lp: str) -> Items:
    """The items of one language pair: the translation should beat the perturbed one.

    Items whose perturbation failed its check are excluded and counted. Objects that are equal in all keys count once.
    """
    rows, faults = _rows(path)
    ours = [row for row in rows if f"{_LANGUAGES.get(row['lang_tag'])}-en" == lp]
    ours, notes = without_repeats(ours, lambda row: json.dumps(row, sort_keys=True))
    ids = Counter(str(row["id"]) for row in ours if "id" in row)
    again = [Fault(str(path), 0, f"id {name} of {n} objects", "each once") for name, n in ids.items() if n > 1]
    faults += first_faults(again)
    passed = [row for row in ours if row.get("pert_check") is True]
    named = _NAME.fullmatch(path.name)
    assert named is not None
    frame = pl.DataFrame(
        [
            {
                "item": number,
                "phenomenon": row["pert_name"],
                "class": named["class"],
                "document": row["pert_name"],
                "hypothesis": hypothesis,
                "grade": grade,
                "source": row["src_sent"],
                "reference": row["eng_sent"],
                "text": row[column],
            }
            for number, row in enumerate(passed)
            for hypothesis, column, grade in (("translation", "mt_sent", 1.0), ("perturbed", "pert_sent", 0.0))
        ]
    ).with_columns(domain=pl.lit(None, dtype=pl.String))
    return Items(frame, faults=tuple(faults), n_excluded=len(ours) - len(passed), notes=tuple(notes))


def _rows(path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """The objects of a file with all texts; each other object is a fault."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError, OSError):
        return [], [Fault(str(path), 0, "no JSON", "a list of objects", "download it again")]
    if not isinstance(data, list):
        return [], [Fault(str(path), 0, "JSON that is not a list", "a list of objects")]
    rows, faults = [], []
    for number, row in enumerate(data, start=1):
        lacking = [key for key in _TEXTS if not isinstance(row, dict) or not isinstance(row.get(key), str)]
        unknown = [] if lacking or row["lang_tag"] in _LANGUAGES else [f"language {row['lang_tag']!r}"]
        if lacking or unknown:
            what = f"object {number} without {', '.join(lacking)}" if lacking else f"object {number}: {unknown[0]}"
            faults.append(Fault(str(path), 0, what, "texts and a language of DEMETR", kind="an object"))
        else:
            rows.append(row)
    return rows, first_faults(faults)
