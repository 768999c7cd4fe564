"""Error annotations: SYSTEM, JSON or None, and perhaps RATER; the score is minus the sum of the errors' weights.

If a metric's errors have no weights, a major error counts 5 and a minor error 1.

Errors of Appraise's campaigns may have no weight: then the score file next to them has the scores. Their spans are in
Appraise's form: the end is the last character, and an omission has no position.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from warehouse.database.stage import Documents, Stage
from warehouse.names import system_kind, visible_name
from warehouse.readers.contents import Content
from warehouse.readers.judgements import score_of_errors, span_of, weight_of
from warehouse.readers.mtme.lines import Wrong, cells_of, describe_n_segments, lines_of, report
from warehouse.readers.mtme.place import Place
from warehouse.readers.mtme.scores import scorer_columns, unknown_system
from warehouse.readers.text.json_lines import has_whole_characters
from warehouse.readers.text.tables import NORMALISED
from warehouse.wording import counted

Errors = list[dict[str, Any]]
Rating = tuple[str, Errors | None, str | None]  # system, errors (None where not annotated), rater


def read_ratings(content: Content, place: Place, documents: Documents | None, stage: Stage) -> None:
    """Stage one file of annotations; documents: None if their file is faulty, so that lines cannot be counted."""
    ratings: list[Rating] = []
    wrong: list[Wrong] = []
    names: set[str] = set()
    for number, line in enumerate(lines_of(content), start=1):
        cells = line.split("\t")
        names |= {cells[0], *cells[2:]}
        try:
            ratings.append(parse_rating(line, is_of_people=place.folder == "human-scores"))
        except ValueError as error:
            wrong.append((number, str(error), "SYSTEM, JSON or None, and optionally RATER, separated by tabs"))
    weights = [[error["weight"] for error in errors or ()] for _, errors, _ in ratings]
    if any(weight is not None for marked in weights for weight in marked) and not wrong:
        without = (number for number, marked in enumerate(weights, start=1) if None in marked)
        expected = "SYSTEM, JSON or None, with scores for all errors of the file or for none"
        wrong = [(number, "an error with score None", expected) for number in without]
    blocks: dict[str, list[int]] = {}
    for place_in_file, (system, _, _) in enumerate(ratings):
        blocks.setdefault(system, []).append(place_in_file)
    if not wrong:
        wrong = _wrong_blocks(blocks, documents, stage)
    if report(stage, content, wrong) or documents is None:
        return
    stage.add_systems(content.file_no, {system: system_kind(system) for system in blocks})
    if n_changed := len({name for name in names if visible_name(name) != name}):
        stage.notes.append(f"{content.claim.path}: {counted(n_changed, 'name')} {NORMALISED}")
    raters = [rater for _, errors, rater in ratings if errors is not None]
    if any(raters) and (n_without := sum(not rater for rater in raters)):
        stage.notes.append(f"{content.claim.path}: {counted(n_without, 'annotation')} of {len(raters)} without a rater")
    stage.n_rows[content.file_no] = len(ratings)
    stage.n_missing[content.file_no] = sum(errors is None for _, errors, _ in ratings)
    _stage_ratings({system: [ratings[n] for n in rows] for system, rows in blocks.items()}, content, place, stage)


def _wrong_blocks(blocks: Mapping[str, Sequence[int]], documents: Documents | None, stage: Stage) -> list[Wrong]:
    """Faults of systems that are unknown, or without exactly one unbroken block of the right length."""
    wrong: list[Wrong] = []
    for system, rows in blocks.items():
        if documents is not None and len(rows) != len(documents):
            found = f"system {system!r} has {len(rows)} annotations"
            wrong.append((rows[-1] + 1, found, describe_n_segments(documents, stage)))
        elif rows[-1] - rows[0] + 1 != len(rows):
            found = f"lines of system {system!r} are not consecutive"
            wrong.append((rows[0] + 1, found, "one block of lines per system"))
        if unknown := unknown_system(system, stage):
            wrong.append((rows[0] + 1, *unknown))
    return wrong


_TEXTS = dict.fromkeys(("rater", "category", "severity"), pl.String)
_KINDS: dict[str, Any] = {**_TEXTS, "value": pl.Float64, "weight": pl.Float64, "is_source_error": pl.Boolean}


def _frame(rows: Sequence[Any], *columns: str) -> pl.DataFrame:
    """Rows of the stage; columns are integers by default."""
    return pl.DataFrame(rows, schema={name: _KINDS.get(name, pl.Int32) for name in columns}, orient="row")


def _stage_ratings(blocks: Mapping[str, Sequence[Rating]], content: Content, place: Place, stage: Stage) -> None:
    """Stage each annotation as a judgement with its errors, and each system's annotations as a vector of scores."""
    vectors: list[dict[str, Any]] = []
    scores: list[tuple[int, int, float | None]] = []
    judgements: list[tuple[int, int, int, str | None, float | None]] = []
    errors_marked: Errors = []
    scorer = scorer_columns(place)
    is_of_people = scorer["kind"] == "human"
    has_weights = all(
        error["weight"] is not None for rows in blocks.values() for _, errors, _ in rows for error in errors or ()
    )
    is_weighted = has_weights or not is_of_people

    def weight(error: Mapping[str, Any]) -> float | None:
        return error["weight"] if has_weights else weight_of(error["severity"])

    for vector_no, system in zip(stage.batch.new_vectors(len(blocks)), sorted(blocks), strict=True):
        for segment, (_, errors, rater) in enumerate(blocks[system], start=1):
            is_scored = is_weighted and errors is not None
            value = score_of_errors(map(weight, errors or ())) if is_scored else None
            scores.append((vector_no, segment, value))
            if errors is None:
                continue
            (judgement_no,) = stage.batch.new_judgements(1)
            judgements.append((judgement_no, vector_no, segment, rater, value if is_of_people else None))
            errors_marked.extend({"judgement_no": judgement_no, **error} for error in errors)
        n_missing = sum(errors is None or not is_weighted for _, errors, _ in blocks[system])
        vectors.append(
            {
                "vector_no": vector_no,
                "file_no": content.file_no,
                **scorer,
                "system": system,
                "level": place.level,
                "is_negated": False,
                "is_derived": not is_of_people,
                "n_values": len(blocks[system]) - n_missing,
                "n_missing": n_missing,
            }
        )

    stage.add("vector", pl.DataFrame(vectors).with_columns(pl.col("reference").cast(pl.String)))
    stage.add("score", _frame(scores, "vector_no", "segment", "value"))
    judged = _frame(judgements, "judgement_no", "vector_no", "segment", "rater", "value")
    stage.add("judgement", judged.with_columns(status=pl.lit("valid")))
    of_error = ("category", "severity", "weight", "span_start", "span_end", "is_source_error")
    stage.add("span", _frame(errors_marked, "judgement_no", *of_error))


def parse_rating(line: str, is_of_people: bool = True) -> Rating:
    """Parse one line. is_of_people: errors without a score are Appraise's, with inclusive ends.

    >>> parse_rating('A\\t{"errors": []}\\tann'), parse_rating("A\\tNone")
    (('A', [], 'ann'), ('A', None, None))
    >>> error = {"category": "", "severity": "minor", "start": 0, "end": 2}
    >>> parse_rating("A\\t" + json.dumps({"errors": [error, {"start": "missing", "end": "missing"}]}))[1] == [
    ...     dict(category="", severity="minor", weight=None, span_start=0, span_end=3, is_source_error=None),
    ...     dict(category="missing", severity=None, weight=None, span_start=None, span_end=None, is_source_error=None),
    ... ]
    True

    Raises ValueError: what is wrong with it.
    """
    cells = cells_of(line)
    if not line:
        raise ValueError("a blank line")
    if len(cells) not in (2, 3):
        raise ValueError(counted(len(cells), "column"))
    system = visible_name(cells[0])
    if not system:
        raise ValueError("an empty system name")
    rater = visible_name(cells[2]) if len(cells) == 3 and cells[2] not in ("", "None") else None
    if cells[1].strip() == "None":
        return system, None, rater
    try:
        data = json.loads(cells[1])
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not valid JSON: {error}") from error
    errors = data.get("errors") if isinstance(data, dict) else None
    if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        raise ValueError("not a list of errors")
    if not has_whole_characters(cells[1], errors):
        raise ValueError("an error with text that is not Unicode")
    return system, [_parse_error(error, is_of_people) for error in errors], rater


def _parse_error(error: Mapping[str, Any], is_of_people: bool) -> dict[str, Any]:
    """One error as columns of staged_span.

    Raises ValueError: its score is not a finite number, or its span is invalid.
    """
    weight = error.get("score")
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool) and abs(weight) < 1e300
    if not is_number and weight is not None:
        raise ValueError(f"an error with score {weight!r}")
    is_inclusive = is_of_people and "score" not in error
    category, severity, start, end, in_source = span_of(error, is_inclusive=is_inclusive)
    return {
        "category": category or "missing" if error.get("start") == "missing" else category,
        "severity": severity,
        "weight": None if weight is None else float(weight),
        "span_start": start,
        "span_end": end,
        "is_source_error": in_source,
    }
