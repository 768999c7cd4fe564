"""Score files: one block of lines for each system, in test-set order and without a segment number.

Position is the key, so a line too few or a blank one would shift all that follow: such files are refused.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import polars as pl

from warehouse.database.frames import temporary
from warehouse.database.stage import Documents, Stage
from warehouse.database.statements import statement
from warehouse.names import MetricVariant, system_kind
from warehouse.readers.contents import Content
from warehouse.readers.mtme.lines import Wrong, n_segments_in_words, report
from warehouse.readers.mtme.place import Place
from warehouse.readers.mtme.raw_scores import Block, read_raw
from warehouse.wording import counted

Placed = Sequence[tuple[Content, Place]]
Blocks = Mapping[int, Sequence[Block]]  # by file_no


def read_scores(placed: Placed, documents: Documents | None, stage: Stage) -> None:
    """Stage score files; documents: None where their file is faulty, so that lines cannot be counted."""
    for is_domain, has_domains in ((False, False), (False, True), (True, True)):
        chosen = [
            (content, place)
            for content, place in placed
            if (place.level == "domain") == is_domain
            and (is_domain or (place.level == "seg" and content.n_tabs == 2 * content.n_lines) == has_domains)
        ]
        if not chosen:
            continue
        blocks = read_raw([content for content, _ in chosen], has_domains, stage)
        chosen = [(content, place) for content, place in chosen if content.file_no in blocks]
        wrong: Mapping[int, Sequence[Wrong]] = {}
        if has_domains:
            find_wrong = _wrong_domains if is_domain else _other_domains
            wrong = find_wrong(chosen, blocks, documents, stage)
        good = []
        for content, place in chosen:
            found = [*_wrong_systems(blocks[content.file_no], stage), *wrong.get(content.file_no, ())]
            if not is_domain:
                found += _wrong_blocks(blocks[content.file_no], place.level, documents, stage)
            if not report(stage, content, found):
                good.append((content, place))
        _stage_blocks(good, blocks, documents or (), stage)
    stage.batch.connection.execute("DROP TABLE IF EXISTS temp.raw_score")


def unknown_system(system: str, stage: Stage) -> tuple[str, str] | None:
    """What was found and expected, where a system is none of the evaluation set's; None where it is, or none is known.

    The nearest name is offered.
    """
    known = stage.known_systems
    if not known or system in known:
        return None
    near = get_close_matches(system, known, n=1, cutoff=0.5)
    hint = f", such as {near[0]!r}" if near else ""
    expected = f"one of the {len(known)} systems of {stage.evalset.testset} {stage.evalset.lp}{hint}"
    return f"unknown system {system!r}", expected


def _wrong_systems(blocks: Sequence[Block], stage: Stage) -> Iterator[Wrong]:
    for block in blocks:
        if not block.system:
            yield block.line, "an empty system name", "SYSTEM before the score"
        elif unknown := unknown_system(block.system, stage):
            yield block.line, *unknown


def _wrong_blocks(blocks: Sequence[Block], level: str, documents: Documents | None, stage: Stage) -> Iterator[Wrong]:
    """Systems without exactly one unbroken block of the right length."""
    n_documents = len({document for _, document in documents or ()})
    n_expected = {"seg": len(documents or ()), "doc": n_documents, "sys": 1}[level]
    words = str(n_expected)
    if level == "seg":
        words = n_segments_in_words(documents or (), stage)
    elif level == "doc":
        words = f"{n_documents} (documents of {stage.evalset.testset} {stage.evalset.lp})"
    for block in blocks:
        if block.n != n_expected and not (documents is None and level != "sys"):
            yield block.last_line, f"system {block.system!r} has {counted(block.n, 'score')}", words
        elif not block.is_together:
            what = f"lines of system {block.system!r} are not together"
            yield block.line, what, "one block of lines per system"


def _wrong_domains(placed: Placed, blocks: Blocks, documents: Documents | None, stage: Stage) -> dict[int, list[Wrong]]:
    """Files that name unknown domains, or else not every combination of their domains and systems exactly once."""
    known = {domain for domain, _ in documents or ()}
    lines: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for file_no, row, unit, system in stage.batch.rows(
        "SELECT file_no, rowid, unit, system FROM temp.raw_score ORDER BY rowid"
    ):
        lines[file_no].append((row, unit, system))
    wrong: dict[int, list[Wrong]] = defaultdict(list)
    for content, _ in placed:
        first: dict[str, int] = {}
        cells: set[tuple[str, str]] = set()
        for number, (_, unit, system) in enumerate(lines[content.file_no], start=1):
            first.setdefault(unit, number)
            if (unit, system) in cells:
                what = f"domain {unit!r} and system {system!r} a second time"
                wrong[content.file_no].append((number, what, "each once"))
            cells.add((unit, system))
        expected = f"one of {', '.join(sorted(map(str, known)))}" if known else "DOMAIN before the system"
        unknown = [
            (number, f"unknown domain {unit!r}" if unit else "an empty domain", expected)
            for unit, number in first.items()
            if not unit or (known and unit not in known)
        ]
        wrong[content.file_no] += unknown or [
            (block.last_line, f"system {block.system!r} has no line for domain {unit!r}", "one for every domain")
            for block in blocks[content.file_no]
            for unit in first
            if (unit, block.system) not in cells
        ]
    return wrong


def _other_domains(placed: Placed, blocks: Blocks, documents: Documents | None, stage: Stage) -> dict[int, list[Wrong]]:
    """Lines of segment scores that name another domain than the segment's."""
    domains = [domain for domain, _ in documents or ()]
    if not domains:
        return {}
    units: dict[int, list[str]] = defaultdict(list)
    for file_no, unit in stage.batch.rows("SELECT file_no, unit FROM temp.raw_score ORDER BY rowid"):
        units[file_no].append(unit)
    return {
        content.file_no: [
            (block.line + at, f"domain {unit!r}", f"{domain!r}, as in the documents file")
            for block in blocks[content.file_no]
            for at, (unit, domain) in enumerate(
                zip(units[content.file_no][block.line - 1 : block.last_line], domains, strict=False)
            )
            if unit != domain
        ]
        for content, _ in placed
    }


def _stage_blocks(placed: Placed, blocks: Blocks, documents: Documents, stage: Stage) -> None:
    """Turn the blocks of sound files into vectors with their scores."""
    rows: list[dict[str, Any]] = []
    for content, place in placed:
        described = scorer_columns(place)
        rows += [
            {
                "file_no": content.file_no,
                **described,
                "system": block.system,
                "level": place.level,
                "is_negated": False,
                "n_values": block.n - block.n_missing,
                "n_missing": block.n_missing,
                "first_row": block.first,
            }
            for block in blocks[content.file_no]
        ]
        stage.n_rows[content.file_no] = sum(block.n for block in blocks[content.file_no])
        stage.n_missing[content.file_no] = sum(block.n_missing for block in blocks[content.file_no])
        systems = {block.system: system_kind(block.system) for block in blocks[content.file_no]}
        stage.add_systems(content.file_no, systems)
    if not rows:
        return
    numbers = pl.Series("vector_no", list(stage.batch.new_vectors(len(rows))), dtype=pl.Int32)
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(numbers, pl.col("reference").cast(pl.String))
    stage.add("vector", frame.drop("first_row"))
    names = list(dict.fromkeys(document for _, document in documents))
    connection = stage.batch.connection
    temporary(
        connection,
        "raw_block",
        frame.select("vector_no", pl.col("file_no").cast(pl.Int32), "system", "level", "first_row"),
    )
    levels = {place.level for _, place in placed}
    if "seg" in levels:
        connection.execute(statement(__package__, "stage_scores"))
    if levels != {"seg"}:
        connection.execute(statement(__package__, "stage_aggregates"), {"documents": names})
    connection.execute("DROP TABLE temp.raw_block")


def scorer_columns(place: Place) -> dict[str, Any]:
    """Columns of staged_vector that describe the scorer of a file."""
    if place.folder != "metric-scores":
        return {
            "kind": "human",
            "scorer": place.name,
            "base_name": place.name,
            "reference": None,
            "is_reference_free": False,
        }
    variant = MetricVariant.parse(place.name)
    return {
        "kind": "metric",
        "scorer": place.name,
        "base_name": variant.base_name,
        "reference": variant.reference,
        "is_reference_free": variant.reference is None,
    }
