"""WMT25's automatic scores: `automatic_scores/SYSTEM.jsonl`, one document per line, one value per paragraph and metric.

They come from the general translation task and were not submitted to the metrics task.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import Fault
from warehouse.facts.metrics import describe
from warehouse.readers.automatic_scores import claim_automatic
from warehouse.readers.claims import Claim, LoadHints
from warehouse.readers.records import Records, TextReader
from warehouse.readers.text.json_lines import first_object, json_objects
from warehouse.readers.text.tables import constants, line_faults, of_each_kind

_KEYS = ("language_pair", "domain", "document_id")
_REFERENCE = "refA"
_YEAR = 2025


class Wmt25AutomaticReader(TextReader):
    """Reader of WMT25's automatic scores."""

    name = "wmt25-automatic/1"

    def claim(self, path: Path, head: Sequence[str], given: LoadHints) -> Claim | str | None:
        first = first_object(head)
        if first is None or not {"metric_scores", "language_pair", "document_id"} <= first.keys():
            return None
        claimed = claim_automatic(path, self.name, given, f"automatic_scores/{path.name}")
        return replace(claimed, is_listing=True) if isinstance(claimed, Claim) else claimed

    def read(self, text: str, faults: list[Fault], claim: Claim, given: LoadHints) -> Records:
        rows, values, more = _rows(text, claim.path)
        faults += more
        schema = {"line": pl.Int64, **dict.fromkeys(("lp", "domain", "document", "scorer"), pl.String), "n": pl.Int64}
        table = pl.DataFrame(rows, schema=schema, orient="row")
        scores = table.filter(pl.col("n") > 0).with_columns(index=pl.int_ranges(1, pl.col("n") + 1)).explode("index")
        scores = scores.with_columns(value=pl.Series(values, dtype=pl.Float64))
        wrong = scores.filter(~pl.col("value").is_finite())
        found = "{} {!r}".format
        expected = "finite numbers, or null if missing"
        faults += line_faults(wrong.select("line", "scorer", "value"), found, expected, claim.path, "a number")
        references = {metric: _reference(metric) for metric in table["scorer"].unique().to_list()}
        return Records(
            scores=scores.filter(pl.col("value").is_finite().fill_null(True)).with_columns(
                *constants(testset=claim.testset, level="seg", kind="metric"),
                *constants(system=claim.path.name.partition(".jsonl")[0]),
                reference=pl.col("scorer").replace_strict(references, return_dtype=pl.String),
            ),
            faults=faults,
        )


_Row = tuple[int, str, str, str, str, int]


def _rows(text: str, path: Path) -> tuple[list[_Row], list[float | None], list[Fault]]:
    """One row per line and metric, with its place and number of values; and all values in order."""
    faults: list[Fault] = []
    rows: list[_Row] = []
    values: list[float | None] = []
    wrong: list[Fault] = []
    for line, document in json_objects(text, path, faults):
        problem = _problem(document)
        if problem is None:
            lp, domain, name = (document[key] for key in _KEYS)
            for metric, scores in document["metric_scores"].items():
                rows.append((line, lp, domain, name, metric, len(scores)))
                values += scores
        else:
            wrong.append(Fault(str(path), line, *problem, kind=problem[1]))
    return rows, values, [*faults, *of_each_kind(wrong)]


def _problem(document: dict[str, Any]) -> tuple[str, str] | None:
    """The problem in a document, and what was expected; None if it is valid."""
    for key in _KEYS:
        if not isinstance(document.get(key), str):
            return f"{key} {document.get(key)!r}", "text"
    scores = document.get("metric_scores")
    if not isinstance(scores, dict):
        return "no metric_scores", "an object with a list of numbers for each metric"
    for metric, values in scores.items():
        if not isinstance(values, list) or not {type(value) for value in values} <= {float, type(None)}:
            return f"{metric} without numbers", "a list with a number, or null, for each paragraph"
    if len({len(values) for values in scores.values()}) > 1:
        numbers = ", ".join(f"{metric} {len(values)}" for metric, values in scores.items())
        return f"lists of several lengths ({numbers})", "one value of each metric for each paragraph"
    return None


def _reference(metric: str) -> str | None:
    """The reference of a metric that always uses one; the files do not state references.

    A metric that works with and without a reference counts as reference-free.
    """
    return _REFERENCE if describe(metric, _YEAR).is_reference_free is False else None
