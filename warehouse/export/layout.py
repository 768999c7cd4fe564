"""Export to the organisers' folder layout, and of error spans in the format of WMT25's task 2."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.export.exported import (
    LONGEST_NAME,
    EvalsetKey,
    ExportedEvalset,
    copy,
    quoted,
    replacing_file,
    write_text,
)
from warehouse.export.mtme import (
    OF_JSON,
    PLAIN,
    Errors,
    Floats,
    RatingTable,
    ScoreTable,
    evalset_files,
    write_facts,
)
from warehouse.export.texts import texts_of
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts
from warehouse.names import LEVELS
from warehouse.readers.judgements import score_of_errors
from warehouse.wording import counted

_UNKNOWN_DOMAIN = "all"
_AS_ENTRIES = "this layout would show them as submissions to the shared task; use csv or parquet"
_NO_PREFERENCES = "this layout has no file for them; use csv or parquet"
_PREFERENCES = """
    SELECT count(*)
    FROM preference AS p
    JOIN vector AS v ON v.vector_id = p.vector_a
    WHERE v.evalset_id = $evalset
"""
Cells = dict[str, dict[str | int | None, float]]  # system -> segment, unit or None -> score


def export_layout(warehouse: Warehouse, key: EvalsetKey, folder: Path) -> ExportedEvalset:
    """Write TESTSET/documents, sources, references, system-outputs, human-scores, metric-scores and testset.toml.

    Left out, with a note: metrics not submitted to the shared task (the layout can't say so), an evaluation set
    whose segments have no documents or no known order, judgements that a rating file can't hold, preferences, texts
    with missing segments.
    Raises OSError: the folder can't be written.
    """
    evalset = {"evalset": key.evalset_id}
    segments = warehouse.rows(
        "SELECT segment, position, domain, document FROM segment WHERE evalset_id = $evalset ORDER BY position", evalset
    )
    if not segments or any(position is None or document is None for _, position, _, document in segments):
        why = "no segments are known" if not segments else "the order or documents of segments are unknown"
        return ExportedEvalset(key.testset, key.lp, 0, 0, 0, (f"excluded: {why}, and the layout needs them",))
    root = folder / quoted(key.testset)
    documents = [(domain or _UNKNOWN_DOMAIN, document) for _, _, domain, document in segments]
    notes: list[str] = []
    order = [segment for segment, *_ in segments]
    scorers = _scorers(warehouse, evalset, notes)
    ratings, rated = _ratings(warehouse, evalset, scorers, order, notes)
    if n_preferences := int(warehouse.rows(_PREFERENCES, evalset)[0][0]):
        notes.append(f"{counted(n_preferences, 'preference')} excluded, {_NO_PREFERENCES}")
    tables = {level: _tables(warehouse, evalset, level, scorers, order, documents, rated, notes) for level in LEVELS}
    try:
        texts = _texts(warehouse, evalset, order, notes)
        given = (texts["source"].get(""), texts["reference"], texts["output"])
        made = dict(evalset_files(key.lp, documents, *given, None, None, ratings["human"], ratings["metric"]))
        for level in LEVELS:
            humans, metrics = tables[level]
            made |= evalset_files(key.lp, documents, humans=humans, metrics=metrics)
    except ValueError as error:
        return ExportedEvalset(key.testset, key.lp, 0, 0, 0, (*notes, f"excluded: {error}"))
    for path in made:
        if path.suffix in (PLAIN, OF_JSON):  # the other is of an earlier export
            (root / path).with_suffix(OF_JSON if path.suffix == PLAIN else PLAIN).unlink(missing_ok=True)
    written = [write_text(root / path, text) for path, text in made.items()]
    files = sorted({*written, write_facts(root, _facts(warehouse, key.testset))})
    n_rows = sum(path.read_bytes().count(b"\n") for path in files)
    return ExportedEvalset(
        key.testset, key.lp, len(files), n_rows, sum(path.stat().st_size for path in files), tuple(notes)
    )


def _texts(
    warehouse: Warehouse, evalset: Mapping[str, int], order: Sequence[int], notes: list[str]
) -> dict[str, dict[str, list[str]]]:
    """Sources, references and outputs by kind and name (empty for sources), in the order of segments."""
    found: dict[str, dict[str, list[str]]] = {"source": {}, "reference": {}, "output": {}}
    incomplete = []
    loaded = {(kind, name or ""): texts for (kind, name), texts in texts_of(warehouse, evalset).items()}
    for (kind, name), texts in sorted(loaded.items()):
        if len(texts) == len(order):
            found[kind][name] = [texts[segment] for segment in order]
        else:
            incomplete.append(f"{kind} {name}".rstrip())
    if incomplete:
        notes.append(f"texts excluded, segments missing: {', '.join(incomplete)}")
    return found


def _scorers(warehouse: Warehouse, evalset: Mapping[str, int], notes: list[str]) -> dict[int, tuple[str, str]]:
    """Kind and name of the scorers to write."""
    rows = warehouse.rows(statement(__package__, "layout_scorers"), evalset)
    own = [name for _, _, name, is_own, _ in rows if is_own]
    others = [name for _, _, name, is_own, is_no_entry in rows if is_no_entry and not is_own]
    for why, names in (("added by a user", own), ("not submitted to the metrics task", others)):
        if names:
            notes.append(f"excluded, {why}: {', '.join(names)} ({_AS_ENTRIES})")
    return {scorer_id: (kind, name) for scorer_id, kind, name, *is_excluded in rows if not any(is_excluded)}


def _tables(
    warehouse: Warehouse,
    evalset: Mapping[str, int],
    level: str,
    scorers: Mapping[int, tuple[str, str]],
    order: Sequence[int],
    documents: Sequence[tuple[str, str]],
    rated: frozenset[int],
    notes: list[str],
) -> tuple[dict[str, ScoreTable], dict[str, ScoreTable]]:
    """Tables of human scores and metrics at one level, without scores that rating files hold."""
    cells: dict[int, Cells] = defaultdict(lambda: defaultdict(dict))
    query = statement(__package__, "layout_segment_scores" if level == "seg" else "layout_aggregates")
    for scorer_id, system, unit, value in warehouse.rows(query, {**evalset, "level": level}):
        cells[scorer_id][system][unit] = np.nan if value is None else value
    names = list(dict.fromkeys(document for _, document in documents))
    build: Callable[[Cells], ScoreTable] = {
        "seg": lambda scores: ScoreTable(systems=list(scores), seg=_array(scores, order)),
        "doc": lambda scores: ScoreTable(systems=list(scores), doc=_array(scores, names)),
        "domain": _domain_table,
        "sys": lambda scores: ScoreTable(systems=list(scores), sys=_array(scores, [None])[:, 0]),
    }[level]
    tables: dict[str, dict[str, ScoreTable]] = {"human": {}, "metric": {}}
    for scorer_id, scores in cells.items():
        if scorer_id not in scorers or (level == "seg" and scorer_id in rated):
            continue
        kind, name = scorers[scorer_id]
        if kind == "metric" and "-" not in name:
            notes.append(f"{name} excluded: its name does not say which reference it used")
            continue
        tables[kind][name] = build(scores)
    return tables["human"], tables["metric"]


def _array(scores: Cells, units: Sequence[str | int | None]) -> Floats:
    """(systems, units), NaN where missing."""
    return np.array([[values.get(unit, np.nan) for unit in units] for values in scores.values()], dtype=np.float64)


def _domain_table(scores: Cells) -> ScoreTable:
    domains = sorted({str(unit) for values in scores.values() for unit in values})
    columns = _array(scores, domains)
    return ScoreTable(systems=list(scores), domain={name: columns[:, place] for place, name in enumerate(domains)})


def _ratings(
    warehouse: Warehouse,
    evalset: Mapping[str, int],
    scorers: Mapping[int, tuple[str, str]],
    order: Sequence[int],
    notes: list[str],
) -> tuple[dict[str, dict[str, RatingTable]], frozenset[int]]:
    """Errors by kind and name of the scorer: predicted errors, and human annotations if the score has exactly one
    judgement with errors per segment.

    Also returns the identifiers of scorers whose segment scores follow from the errors.
    """
    judgements = warehouse.rows(statement(__package__, "layout_judgements"), evalset)
    errors: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for judgement_id, *error in warehouse.rows(statement(__package__, "layout_errors"), evalset):
        words = ("start", "end", "category", "severity", "score", "is_source_error")
        errors[judgement_id].append(dict(zip(words, error, strict=True)))
    by_scorer: dict[tuple[int, str, str], list[tuple[Any, ...]]] = defaultdict(list)
    rated = set()
    for scorer_id, kind, name, is_derived, *rest in judgements:
        if kind == "human" or scorer_id in scorers:
            by_scorer[scorer_id, kind, name].append(tuple(rest))
        if is_derived:
            rated.add(scorer_id)
    tables: dict[str, dict[str, RatingTable]] = {"human": {}, "metric": {}}
    nothing: tuple[Errors | None, str | None] = (None, None)
    for (scorer_id, kind, name), rows in by_scorer.items():
        if kind == "human" and not _fits(rows, errors):
            notes.append(f"{name}: {len(rows)} single judgements excluded: a rating file has one per segment")
            continue
        systems = list(dict.fromkeys(row[0] for row in rows)) + _unjudged(warehouse, evalset, scorer_id, rows)
        found: dict[tuple[str, int], tuple[Errors | None, str | None]] = {
            (system, segment): (errors.get(judgement, []), rater) for system, segment, judgement, rater, *_ in rows
        }
        tables[kind][name] = RatingTable(
            errors={system: [found.get((system, segment), nothing)[0] for segment in order] for system in systems},
            raters={system: [found.get((system, segment), nothing)[1] for segment in order] for system in systems}
            if any(rater for _, rater in found.values())
            else {},
        )
        if kind == "human" and not _is_own(rows, errors):
            rated.add(scorer_id)
    return tables, frozenset(rated)


def _fits(rows: Sequence[tuple[Any, ...]], errors: Mapping[int, Sequence[Mapping[str, Any]]]) -> bool:
    """Whether each (system, segment) has one valid judgement with the value of its errors or of the score."""
    cells = {(system, segment) for system, segment, *_ in rows}
    is_own = _is_own(rows, errors)
    return len(cells) == len(rows) and all(
        status == "valid" and (is_own or value == score_of_errors(error["score"] for error in found))
        for _, _, judgement, _, status, value in rows
        for found in [errors.get(judgement, ())]
    )


def _is_own(rows: Sequence[tuple[Any, ...]], errors: Mapping[int, Sequence[Mapping[str, Any]]]) -> bool:
    """Whether the scores are not sums of penalties: some are above 0, or errors have no weights."""
    weights = (error["score"] for _, _, judgement, *_ in rows for error in errors.get(judgement, ()))
    return any(value is not None and value > 0 for *_, value in rows) or None in weights


def _unjudged(
    warehouse: Warehouse, evalset: Mapping[str, int], scorer_id: int, rows: Sequence[tuple[Any, ...]]
) -> list[str]:
    """Systems that a human score names although none of their segments was judged."""
    names = warehouse.rows(statement(__package__, "layout_systems"), {**evalset, "scorer": scorer_id})
    judged = {row[0] for row in rows}
    return [name for (name,) in names if name not in judged]


def _facts(warehouse: Warehouse, testset: str) -> TestsetFacts:
    """The organisers' declarations in the warehouse, for all language pairs of a test set."""
    ((year, description),) = warehouse.rows(
        "SELECT year, description FROM testset WHERE name = $testset", {"testset": testset}
    )
    entries = warehouse.rows(
        """
        SELECT DISTINCT lp, base_metric, status
        FROM metrics
        WHERE testset = $testset AND status IN ('primary', 'baseline', 'contrastive')
        """,
        {"testset": testset},
    )
    outliers: dict[str, set[str]] = defaultdict(set)
    for lp, system in warehouse.rows(
        "SELECT lp, system FROM systems WHERE testset = $testset AND is_outlier", {"testset": testset}
    ):
        outliers[lp].add(system)
    evalsets = warehouse.rows(statement(__package__, "layout_evalsets"), {"testset": testset})
    primary = {(lp, name) for lp, name, status in entries if status == "primary"}
    everywhere = {name for _, name in primary if not any(item[1] == name and item[2] != "primary" for item in entries)}
    lps = {}
    for lp, reference, ranks, *human in evalsets:
        levels = zip(("sys", "domain", "doc", "seg"), human, strict=True)
        lps[lp] = EvalsetFacts(
            standard_reference=reference,
            standard_human={level: name for level, name in levels if name is not None},
            outlier_systems=frozenset(outliers[lp]),
            ranks_human_references=ranks,
            extra_primary=frozenset(name for pair, name in primary if pair == lp and name not in everywhere),
        )
    baseline = frozenset(name for _, name, status in entries if status == "baseline")
    return TestsetFacts(
        name=testset,
        year=year,
        description=description,
        primary=frozenset(everywhere) | baseline if entries else None,
        baseline=baseline,
        lps=lps,
    )


_NO_PLACE = (
    ("error in the source", "errors in the source"),
    ("error whose severity is not one word", "errors whose severity is not one word"),
    ("judgement that is not valid", "judgements that are not valid"),
    ("category", "categories"),
)


def export_spans(warehouse: Warehouse, key: EvalsetKey, folder: Path) -> ExportedEvalset:
    """Write TESTSET/LP/SCORER.tsv: one row per annotation, with a column `rater` if annotators are known.

    Segments are numbered within the test set. Notes count data that the format cannot hold: errors in the source,
    severities of several words or none, categories, judgements that are not valid.
    Raises OSError: the folder can't be written.
    """
    asked = {"testset": key.testset, "lp": key.lp}
    n_files = n_rows = n_bytes = 0
    notes = []
    source, target = key.lp.split("-", 1) if "-" in key.lp else (key.lp, "")
    for scorer, has_raters, *left in warehouse.rows(statement(__package__, "span_files"), asked):
        path = folder / quoted(key.testset) / quoted(key.lp) / f"{quoted(scorer)[:LONGEST_NAME]}.tsv"
        query = statement(__package__, "span_rows").replace("/* rater */", "a.rater," if has_raters else "")
        with replacing_file(path) as fresh:
            more = {"scorer": scorer, "source": source, "target": target}
            n_rows += copy(warehouse, query, fresh, "FORMAT csv, DELIMITER '\t', HEADER", asked | more)
        n_files, n_bytes = n_files + 1, n_bytes + path.stat().st_size
        notes += [f"{scorer}: {counted(n, *what)} excluded" for n, what in zip(left, _NO_PLACE, strict=True) if n]
    if not n_files:
        notes.append("no error spans")
    return ExportedEvalset(key.testset, key.lp, n_files, n_rows, n_bytes, tuple(notes))
