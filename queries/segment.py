"""One segment to read: its source, references and system outputs, each with its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from queries import catalog
from queries.annotations import MarkedError, error_schema, human_with_errors, marked_errors
from queries.evalsets import evalset_id
from warehouse import QuestionError, Warehouse
from warehouse.errors import IT, unknown
from warehouse.names import MetricVariant, in_any_case
from warehouse.wording import ends

_LEVELS = {"seg": "segment", "doc": "document", "sys": "system", "domain": "domain"}
FIXED = ("kind", "name", "text", "errors")  # columns of the frame beside one for each scorer


@dataclass(frozen=True)
class Text:
    """A text of a segment.

    kind: source, reference or output. name: reference or system; None for the source. text: None if not loaded. scores:
    scorer -> score, higher is better; None if it has none for this text. The source has no scores.
    errors: marked by annotators or predicted by metrics for an output, some of them in its source.
    """

    kind: str
    name: str | None
    text: str | None
    scores: Mapping[str, float | None]
    errors: tuple[MarkedError, ...] = ()


@dataclass(frozen=True)
class Segment:
    """One segment with its place, and its texts: source, references by name, outputs best first.

    index_in_document: from 1. scorers: human scores, then metrics, as requested. errors_of: the human score to which
    marked errors belong; None if there are none to show. notes: why there is no human score if none was selected.
    """

    testset: str
    lp: str
    segment: int
    domain: str | None
    document: str | None
    index_in_document: int | None
    scorers: tuple[str, ...]
    texts: tuple[Text, ...]
    errors_of: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The position of the segment, in words."""
        words = [f"{self.testset} {self.lp}, segment {self.segment}"]
        if self.document is not None:
            index = "" if self.index_in_document is None else f" ({self.index_in_document})"
            words.append(f"document {self.document}{index}")
        if self.domain is not None:
            words.append(f"domain {self.domain}")
        return ", ".join(words)

    def frame(self) -> pl.DataFrame:
        """One row per text; columns kind, name, one for each scorer, text, errors (a list of their fields)."""
        columns: dict[str, pl.Series] = {
            "kind": pl.Series([text.kind for text in self.texts], dtype=pl.String),
            "name": pl.Series([text.name for text in self.texts], dtype=pl.String),
        }
        for scorer in self.scorers:
            column = f"{scorer} (score)" if scorer in FIXED else scorer
            columns[column] = pl.Series([text.scores.get(scorer) for text in self.texts], dtype=pl.Float64)
        columns["text"] = pl.Series([text.text for text in self.texts], dtype=pl.String)
        errors = [list(map(asdict, text.errors)) for text in self.texts]
        columns["errors"] = pl.Series(errors, dtype=pl.List(pl.Struct(error_schema())))
        return pl.DataFrame(columns)

    def as_json(self) -> dict[str, Any]:
        """The segment as nested mappings and lists."""
        place = ("testset", "lp", "segment", "domain", "document", "index_in_document")
        texts = [asdict(text) | {"errors": list(map(asdict, text.errors))} for text in self.texts]
        return {name: getattr(self, name) for name in place} | {"texts": texts}


def read_segment(
    warehouse: Warehouse,
    testset: str,
    lp: str,
    segment: int,
    *,
    humans: Sequence[str] = (),
    metrics: Sequence[str] = (),
    systems: Sequence[str] = (),
) -> Segment:
    """One segment with its texts and their scores.

    humans, metrics, systems: shell patterns. Without humans, the official human score of segments is used, if any;
    without metrics, none; without systems, all outputs. Source and references are always included.
    Raises QuestionError: an unknown test set, language pair or segment, or a pattern that matches nothing.
    """
    number = evalset_id(warehouse, testset, lp)
    where = f"{testset} {lp}"
    domain, document, index = _place(warehouse, number, segment, where)
    coverage = catalog.ask(warehouse, "coverage", evalset=number).rows(named=True)
    there = {(row["kind"], row["scorer"]): row["scorer_id"] for row in coverage if row["level"] == "seg"}
    levels: dict[tuple[str, str], dict[str, None]] = {}
    for row in coverage:
        levels.setdefault((row["kind"], row["scorer"]), {})[_LEVELS[row["level"]]] = None
    coarse = {key: f"only {' and '.join(of)} scores" for key, of in levels.items() if key not in there}
    notes: tuple[str, ...] = ()
    if not humans:
        standard = warehouse.rows(
            "SELECT standard_human_seg FROM evalset WHERE evalset_id = $evalset", {"evalset": number}
        )
        chosen = [name for (name,) in standard if ("human", name) in there]
        if not any(kind == "human" for kind, _ in there):
            only = [f"{name} has {said}" for (kind, name), said in coarse.items() if kind == "human"]
            notes = ("; ".join(["no segment has human scores", *only]),)
    else:
        _check_level("human", humans, coarse, where)
        chosen = _matching("human score", humans, [name for kind, name in there if kind == "human"], where)
    keys = [("human", name) for name in chosen]
    if metrics:
        _check_level("metric", metrics, coarse, where)
        known = {name: (name, _base_name(name)) for kind, name in there if kind == "metric"}
        keys += [("metric", name) for name in _matching("metric", metrics, known, where)]
    scores, kinds = _scores(warehouse, number, segment, {there[key]: name for key, name in _distinct(keys).items()})
    names = tuple(_distinct(keys).values())
    texts = _texts(warehouse, number, segment, names, scores, kinds)
    kept = set(
        _matching(
            "system", systems, [text.name for text in texts if text.name is not None and text.kind == "output"], where
        )
    )
    shown = [text for text in texts if text.kind != "output" or text.name in kept]
    errors_of = human_with_errors(warehouse, number, chosen)
    chosen_metrics = [name for kind, name in keys if kind == "metric"]
    if errors_of is not None or chosen_metrics:
        found = marked_errors(warehouse, number, errors_of, [segment], chosen_metrics)
        shown = [replace(text, errors=tuple(found.get((text.name or "", segment), ()))) for text in shown]
    if not any(error.metric is None for text in shown for error in text.errors):
        errors_of = None
    return Segment(testset, lp, segment, domain, document, index, names, tuple(shown), errors_of, notes)


def _check_level(kind: str, patterns: Sequence[str], coarse: Mapping[tuple[str, str], str], where: str) -> None:
    """Raises QuestionError: a name without wildcards is of a scorer that has no segment scores."""
    for pattern in patterns:
        if (kind, pattern) in coarse:
            what = "human score" if kind == "human" else kind
            raise QuestionError(
                f"{what} {pattern!r} of {IT} has no segment scores, {coarse[kind, pattern]}", where=where
            )


def outputs_of(warehouse: Warehouse, testset: str, lp: str, metric: str, human: str | None = None) -> pl.DataFrame:
    """Segment scores of a metric and human scores: system, segment, human, metric; for outputs with both.

    human: None = the official one. No rows if either has no segment scores.
    """
    query = """
        SELECT s.system, s.segment, h.value AS human, s.value AS metric
        FROM scores AS s
        JOIN human_scores AS h USING (testset, lp, system, segment)
        JOIN evalsets AS e USING (testset, lp)
        WHERE testset = $testset AND lp = $lp AND s.metric = $metric
          AND h.human = coalesce($human, e.standard_human_seg) AND h.value IS NOT NULL AND s.value IS NOT NULL
        ORDER BY ALL
        """
    return warehouse.frame(query, {"testset": testset, "lp": lp, "metric": metric, "human": human})


def _distinct(keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Distinct names of scorers: a metric with the name of a human score is marked as a metric."""
    names: dict[tuple[str, str], str] = {}
    for kind, name in keys:
        names[kind, name] = f"{name} (metric)" if name in names.values() else name
    return names


def _place(warehouse: Warehouse, evalset: int, segment: int, where: str) -> tuple[str | None, str | None, int | None]:
    """Domain, document and index in the document of a segment."""
    ((first, last),) = warehouse.rows(
        "SELECT min(segment), max(segment) FROM segment WHERE evalset_id = $evalset", {"evalset": evalset}
    )
    found = warehouse.rows(
        """
        SELECT domain, document, index_in_document
        FROM segment
        WHERE evalset_id = $evalset AND segment = $segment
        """,
        {"evalset": evalset, "segment": segment},
    )
    if not found:
        if first is None:
            raise QuestionError(f"{where} has no segments: scores of whole systems or documents alone are loaded")
        raise QuestionError(f"unknown segment {segment} for {where}; segments are numbered {ends(first, last)}")
    ((domain, document, index),) = found
    return domain, document, index


def _base_name(metric: str) -> str:
    """The name of a metric without its reference, if the name has one."""
    try:
        return MetricVariant.parse(metric).base_name
    except ValueError:
        return metric


def _matching(
    kind: str, patterns: Sequence[str], known: Sequence[str] | Mapping[str, Sequence[str]], where: str
) -> list[str]:
    """Sorted names that match any of the patterns; all without patterns. known: name -> its alternative names."""
    called = known if isinstance(known, Mapping) else {name: (name,) for name in known}
    known_names = {name for names in called.values() for name in names}
    matching = [in_any_case(pattern, known_names) for pattern in patterns]
    for pattern, found in zip(patterns, matching, strict=True):
        if not found:
            raise unknown(kind, pattern, list(called), where=where)
    chosen = {name for found in matching for name in found}
    return sorted(one for one, names in called.items() if not patterns or chosen.intersection(names))


def _scores(
    warehouse: Warehouse, evalset: int, segment: int, scorers: Mapping[int, str]
) -> tuple[dict[str, dict[str, float | None]], dict[str, str]]:
    """Scores by system and scorer, and the kind of each system that has one."""
    rows = catalog.ask(warehouse, "segment_scores", evalset=evalset, segment=segment, scorers=list(scorers))
    scores: dict[str, dict[str, float | None]] = {}
    kinds: dict[str, str] = {}
    for scorer_id, system, kind, value in rows.iter_rows():
        scores.setdefault(system, {})[scorers[scorer_id]] = value
        kinds[system] = kind
    return scores, kinds


def _texts(
    warehouse: Warehouse,
    evalset: int,
    segment: int,
    scorers: Sequence[str],
    scores: Mapping[str, Mapping[str, float | None]],
    kinds: Mapping[str, str],
) -> list[Text]:
    """Source, references and outputs, also those of systems that have scores and no text.

    An output identical to the reference of the same name is left out.
    """
    found = catalog.ask(warehouse, "texts_of_segments", evalset=evalset, segments=[segment]).drop("segment").rows()
    rows = [(kind, *text) for kind, *text in found if kind != "output" or ("reference", *text) not in found]
    with_text = {name for _, name, _ in rows}
    rows += [
        ("reference" if kinds[name] == "human" else "output", name, None) for name in scores if name not in with_text
    ]
    texts = [
        Text(kind, name, text, {} if name is None else {s: scores.get(name, {}).get(s) for s in scorers})
        for kind, name, text in rows
    ]

    def order(text: Text) -> tuple[int, float, str]:
        best = text.scores.get(scorers[0]) if scorers and text.kind == "output" else None
        missing = float("inf") if text.kind == "output" else 0.0
        return ("source", "reference", "output").index(text.kind), missing if best is None else -best, text.name or ""

    return sorted(texts, key=order)
