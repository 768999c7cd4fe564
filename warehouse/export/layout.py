"""Export to the organisers' folder layout."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.export.exported import UNKNOWN_DOMAIN, EvalsetKey, UnfitError, quoted
from warehouse.export.mtme import OF_JSON, PLAIN, RatingTable, ScoreTable, write_evalset, write_facts
from warehouse.export.texts import texts_of
from warehouse.facts.testsets import EvalsetFacts, TestsetFacts
from warehouse.names import LEVELS
from warehouse.readers.judgements import score_of_errors
from warehouse.wording import are, counted

_AS_ENTRIES = "this layout would show them as submissions to the shared task; use csv or parquet"
_NO_PREFERENCES = "this layout has no file for them; use csv or parquet"
_VECTORS = "(SELECT vector_id FROM vector WHERE evalset_id = $evalset)"
_JUDGEMENTS = f"""
    SELECT vector_id, segment, judgement_id, rater, status, value
    FROM judgement
    WHERE vector_id IN {_VECTORS}
    ORDER BY vector_id, segment, judgement_id
"""
_ERRORS = f"""
    SELECT judgement_id, span_start, span_end, category, severity, weight, is_source_error
    FROM span
    WHERE judgement_id IN (SELECT judgement_id FROM judgement WHERE vector_id IN {_VECTORS})
    ORDER BY judgement_id, rowid
"""
_ENTRIES = """
    SELECT DISTINCT lp, base_metric, status
    FROM metrics
    WHERE testset = $testset AND status IN ('primary', 'baseline', 'contrastive')
"""
Scorer = tuple[str, str]  # kind and name


class _Vector(NamedTuple):
    """One scorer's scores of a system at one level."""

    scorer: Scorer
    system: str
    level: str
    is_derived: bool
    is_own: bool
    is_no_entry: bool


class _Evalset(NamedTuple):
    """What all files of an evaluation set need. order: its segments. notes: of what is left out."""

    warehouse: Warehouse
    key: Mapping[str, int]
    order: Sequence[int]
    vectors: Mapping[int, _Vector]  # by identifier, in its order
    excluded: set[Scorer]
    notes: list[str]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.warehouse.rows(query, self.key)


def export_layout(warehouse: Warehouse, key: EvalsetKey, folder: Path, notes: list[str]) -> dict[Path, int]:
    """Write TESTSET/documents, sources, references, system-outputs, human-scores, metric-scores and testset.toml.

    Left out, with a note: metrics not submitted to the shared task (the layout can't say so), an evaluation set
    whose segments have no documents or no known order, judgements that a rating file can't hold, preferences, texts
    with missing segments.
    Raises OSError: the folder can't be written. UnfitError: nothing is written.
    """
    evalset = {"evalset": key.evalset_id}
    segments = warehouse.rows(
        "SELECT segment, position, domain, document FROM segment WHERE evalset_id = $evalset ORDER BY position", evalset
    )
    if not segments or any(position is None or document is None for _, position, _, document in segments):
        why = "no segments are known" if not segments else "the order or documents of segments are unknown"
        raise UnfitError(f"{why}, and the layout needs them")
    root = folder / quoted(key.testset)
    documents = [(domain or UNKNOWN_DOMAIN, document) for _, _, domain, document in segments]
    order = [segment for segment, *_ in segments]
    rows = warehouse.rows(statement(__package__, "layout_vectors"), evalset)
    vectors = {number: _Vector((kind, name), *rest) for number, kind, name, *rest in rows}
    excluded = _excluded(vectors.values(), notes)
    one = _Evalset(warehouse, evalset, order, vectors, excluded, notes)
    ratings, rated = _ratings(one)
    ((n,),) = one.rows(f"SELECT count(*) FROM preference WHERE vector_a IN {_VECTORS}")
    if n:
        notes.append(f"{counted(n, 'preference')} {are(n)} excluded: {_NO_PREFERENCES}")
    tables, texts = _tables(one, rated, documents), _texts(one)
    written = write_evalset(
        root,
        key.lp,
        documents=documents,
        sources=texts["source"].get(""),
        references=texts["reference"],
        outputs=texts["output"],
        humans=tables["human"],
        metrics=tables["metric"],
        ratings=ratings["human"],
        predictions=ratings["metric"],
    )
    for path in written:
        if path.suffix in (PLAIN, OF_JSON):  # the other is of an earlier export
            path.with_suffix(OF_JSON if path.suffix == PLAIN else PLAIN).unlink(missing_ok=True)
    written.append(write_facts(root, _facts(warehouse, key.testset)))
    return {path: path.read_bytes().count(b"\n") for path in written}


def _texts(one: _Evalset) -> dict[str, dict[str, list[str]]]:
    """Sources, references and outputs by kind and name (empty for sources), in the order of segments."""
    found: dict[str, dict[str, list[str]]] = {"source": {}, "reference": {}, "output": {}}
    incomplete = []
    loaded = {(kind, name or ""): texts for (kind, name), texts in texts_of(one.warehouse, one.key).items()}
    for (kind, name), texts in sorted(loaded.items()):
        if len(texts) == len(one.order):
            found[kind][name] = [texts[segment] for segment in one.order]
        else:
            incomplete.append(f"{kind} {name}".rstrip())
    if incomplete:
        one.notes.append(f"texts with missing segments are excluded: {', '.join(incomplete)}")
    return found


def _excluded(vectors: Collection[_Vector], notes: list[str]) -> set[Scorer]:
    """Scorers whose scores the layout would show as something else."""
    own = {one.scorer for one in vectors if one.is_own}
    others = {one.scorer for one in vectors if one.is_no_entry} - own
    for why, scorers in (("added by a user", own), ("not submitted to the metrics task", others)):
        if scorers:
            names = ", ".join(name for _, name in sorted(scorers))
            notes.append(f"{names} {are(len(scorers))} excluded, {why} ({_AS_ENTRIES})")
    return own | others


def _tables(
    one: _Evalset, rated: set[Scorer], documents: Sequence[tuple[str, str]]
) -> dict[str, dict[str, list[ScoreTable]]]:
    """Tables of scorers by kind and name, without segment scores that rating files hold."""
    cells: dict[tuple[str, Scorer], dict[str, dict[Any, float]]] = defaultdict(lambda: defaultdict(dict))
    for table, unit in (("score", "segment"), ("aggregate_score", "unit")):
        query = f"SELECT vector_id, {unit}, value FROM {table} WHERE vector_id IN {_VECTORS} ORDER BY vector_id"
        for number, place, value in one.rows(query):
            vector = one.vectors[number]
            cells[vector.level, vector.scorer][vector.system][place] = np.nan if value is None else value
    tables: dict[str, dict[str, list[ScoreTable]]] = {"human": defaultdict(list), "metric": defaultdict(list)}
    units = {"seg": one.order, "doc": list(dict.fromkeys(document for _, document in documents)), "sys": [None]}
    for (level, scorer), scores in sorted(cells.items(), key=lambda item: LEVELS.index(item[0][0])):
        kind, name = scorer
        if scorer in one.excluded or (level == "seg" and scorer in rated):
            continue
        if kind == "metric" and "-" not in name:
            one.notes.append(f"{name} is excluded: its name does not say which reference it used")
            continue
        places = units.get(level) or sorted({place for of_system in scores.values() for place in of_system})
        values = np.array([[of.get(place, np.nan) for place in places] for of in scores.values()], dtype=np.float64)
        of_level: Any = {level: values}
        if level == "sys":
            of_level = {"sys": values[:, 0]}
        elif level == "domain":
            of_level = {"domain": dict(zip(places, values.T, strict=True))}
        tables[kind][name].append(ScoreTable([*scores], **of_level))
    return tables


def _ratings(one: _Evalset) -> tuple[dict[str, dict[str, RatingTable]], set[Scorer]]:
    """Errors by kind and name of the scorer: predicted errors, and human annotations if the score has exactly one
    judgement with errors per segment.

    Also returns the scorers whose segment scores follow from the errors.
    """
    errors: dict[int, list[dict[str, Any]]] = defaultdict(list)
    words = ("start", "end", "category", "severity", "score", "is_source_error")
    for judgement, *error in one.rows(_ERRORS):
        errors[judgement].append(dict(zip(words, error, strict=True)))
    by_scorer: dict[Scorer, list[tuple[Any, ...]]] = defaultdict(list)
    rated = set()
    for number, *rest in one.rows(_JUDGEMENTS):
        vector = one.vectors[number]
        if vector.scorer[0] == "human" or vector.scorer not in one.excluded:
            by_scorer[vector.scorer].append((vector.system, *rest))
        if vector.is_derived:
            rated.add(vector.scorer)
    tables: dict[str, dict[str, RatingTable]] = {"human": {}, "metric": {}}
    for scorer, rows in by_scorer.items():
        kind, name = scorer
        weights = (error["score"] for _, _, judgement, *_ in rows for error in errors.get(judgement, ()))
        # some scores are above 0, or errors have no weights
        is_no_sum = any(value is not None and value > 0 for *_, value in rows) or None in weights
        if kind == "human" and not _fits(rows, errors, is_no_sum):
            n = counted(len(rows), "single judgement")
            one.notes.append(f"{name}: {n} {are(len(rows))} excluded: a rating file has one per segment")
            continue
        unjudged = (of.system for of in one.vectors.values() if of.scorer == scorer and of.level == "seg")
        systems = dict.fromkeys([*(row[0] for row in rows), *unjudged])
        found: dict[tuple[str, int], tuple[Any, ...]] = {
            (system, segment): (errors.get(judgement, []), rater) for system, segment, judgement, rater, *_ in rows
        }
        marked, raters = (
            {system: [found.get((system, segment), (None, None))[place] for segment in one.order] for system in systems}
            for place in (0, 1)
        )
        has_raters = any(rater for _, rater in found.values())
        tables[kind][name] = RatingTable(marked, raters if has_raters else {})
        if kind == "human" and not is_no_sum:
            rated.add(scorer)
    return tables, rated


def _fits(rows: Sequence[tuple[Any, ...]], errors: Mapping[int, Sequence[Mapping[str, Any]]], is_no_sum: bool) -> bool:
    """Whether each (system, segment) has one valid judgement with the value of its errors or of the score."""
    cells = {(system, segment) for system, segment, *_ in rows}
    return len(cells) == len(rows) and all(
        status == "valid" and (is_no_sum or value == score_of_errors(error["score"] for error in found))
        for _, _, judgement, _, status, value in rows
        for found in [errors.get(judgement, ())]
    )


def _facts(warehouse: Warehouse, testset: str) -> TestsetFacts:
    """The organisers' declarations in the warehouse, for all language pairs of a test set."""
    asked = {"testset": testset}
    ((number, year, description),) = warehouse.rows(
        "SELECT testset_id, year, description FROM testset WHERE name = $testset", asked
    )
    entries = warehouse.rows(_ENTRIES, asked)
    outliers: dict[str, set[str]] = defaultdict(set)
    for lp, system in warehouse.rows("SELECT lp, system FROM systems WHERE testset = $testset AND is_outlier", asked):
        outliers[lp].add(system)
    primary = {(lp, name) for lp, name, status in entries if status == "primary"}
    everywhere = {name for _, name in primary} - {name for _, name, status in entries if status != "primary"}
    standards = ", ".join(["standard_reference, ranks_human_references", *(f"standard_human_{one}" for one in LEVELS)])
    query = f"SELECT lp, {standards} FROM evalset WHERE testset_id = $number"
    lps = {}
    for lp, reference, ranks, *human in warehouse.rows(query, {"number": number}):
        lps[lp] = EvalsetFacts(
            standard_reference=reference,
            standard_human={level: name for level, name in zip(LEVELS, human, strict=True) if name is not None},
            outlier_systems=frozenset(outliers[lp]),
            ranks_human_references=ranks,
            extra_primary=frozenset(name for pair, name in primary if pair == lp and name not in everywhere),
        )
    baseline = frozenset(name for _, name, status in entries if status == "baseline")
    submitted = frozenset(everywhere) | baseline if entries else None
    return TestsetFacts(testset, year, description, primary=submitted, baseline=baseline, lps=lps)
