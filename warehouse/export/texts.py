"""Plain texts with one segment per line, as input of a user metric; and items of subset2evaluate as JSON lines."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.export.exported import UNKNOWN_DOMAIN, EvalsetKey, UnfitError, quoted, replacing_file, write_text
from warehouse.export.mtme import check_name
from warehouse.wording import are, counted

_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # what any program may take for the end of a line
_NOT_IN_NAMES = re.compile(r'[%/\\:*?"<>|\x00-\x1f\x7f]|^\.|[. ]$')  # of files, on some system

Texts = Mapping[tuple[str, str | None], Mapping[int, str]]  # by kind and name: segment -> text


def texts_of(warehouse: Warehouse, evalset: Mapping[str, int]) -> dict[tuple[str, str | None], dict[int, str]]:
    """Texts of an evaluation set by kind and name, then by segment."""
    found: dict[tuple[str, str | None], dict[int, str]] = defaultdict(dict)
    for kind, name, segment, text in warehouse.rows(
        "SELECT kind, name, segment, text FROM segment_text WHERE evalset_id = $evalset", evalset
    ):
        found[kind, name][segment] = text
    return found


def export_texts(warehouse: Warehouse, key: EvalsetKey, folder: Path, notes: list[str]) -> dict[Path, int]:
    """Write TESTSET/sources/LP.txt, references/LP.REF.txt and system-outputs/LP/SYSTEM.txt, and documents/LP.docs.

    Lines are in the order of segments, the same in all files; a scored human translation also counts as a system.
    Line breaks inside texts become spaces. `documents` has domain and document of each line, if known;
    `segments/LP.tsv` is written if lines are not the positions in the test set. Noted: texts with line breaks,
    incomplete texts and systems without texts (excluded), and system names that are invalid as file names.
    Raises OSError: the folder can't be written. UnfitError: no texts, or a name that no file can have.
    """
    evalset, root = {"evalset": key.evalset_id}, folder / quoted(key.testset)
    texts = texts_of(warehouse, evalset)
    if not texts:
        raise UnfitError("no texts are loaded")
    columns = "segment, position, domain, document, index_in_document"
    segments = warehouse.rows(f"SELECT {columns} FROM segment WHERE evalset_id = $evalset ORDER BY segment", evalset)
    systems = warehouse.rows("SELECT name FROM system WHERE evalset_id = $evalset ORDER BY name", evalset)
    order = [segment for segment, *_ in segments]
    wanted = _files(texts, [name for (name,) in systems], key.lp, notes)
    lines = {root / path: one for path, one in _lines(wanted, order, notes).items()}
    written = {path: "".join(f"{line}\n" for line in one) for path, one in lines.items()}
    documents = [(domain or UNKNOWN_DOMAIN, document) for _, _, domain, document, _ in segments]
    if all(document is not None for _, document in documents):
        written[root / "documents" / f"{key.lp}.docs"] = _table(documents)
    if [position for _, position, *_ in segments] != list(range(1, len(segments) + 1)):
        header = ("line", "position", "domain", "document", "index")
        rows = [(line, *row[1:]) for line, row in enumerate(segments, start=1)]
        written[root / "segments" / f"{key.lp}.tsv"] = _table([header, *rows])
        notes.append(f"line numbers differ from segment numbers; segments/{key.lp}.tsv maps them")
    return {write_text(path, text): len(lines.get(path, ())) for path, text in written.items()}


def _files(texts: Texts, systems: Sequence[str], lp: str, notes: list[str]) -> dict[Path, Mapping[int, str]]:
    """Texts by file; for systems, the scored ones and all others with outputs."""
    found: dict[Path, Mapping[int, str]] = {}
    if ("source", None) in texts:
        found[Path("sources", f"{lp}.txt")] = texts["source", None]
    else:
        notes.append("no source texts are loaded")
    renamed = []
    for kind, name in sorted((kind, str(name)) for kind, name in texts if kind == "reference"):
        found[Path("references", f"{lp}.{_file_name(name)}.txt")] = texts[kind, name]
    outputs = {str(name): one for (kind, name), one in texts.items() if kind == "output"}
    outputs |= {
        name: texts["reference", name] for name in systems if name not in outputs and ("reference", name) in texts
    }
    for name, one in sorted(outputs.items()):
        found[Path("system-outputs", lp, f"{_file_name(name)}.txt")] = one
        if _file_name(name) != name:
            renamed.append(f"{_file_name(name)}.txt has system {name!r}")
    if without := [name for name in systems if name not in outputs]:
        notes.append(
            f"{counted(len(without), 'scored system')} {are(len(without), have=True)} no texts: {', '.join(without)}"
        )
    if renamed:
        notes.append(f"names that are not valid file names are percent-encoded: {'; '.join(renamed)}")
    return found


def _lines(files: Mapping[Path, Mapping[int, str]], order: Sequence[int], notes: list[str]) -> dict[Path, list[str]]:
    """The lines of each file that has a text for every segment; notes on the others, and on line breaks."""
    found: dict[Path, list[str]] = {}
    incomplete, n_broken = [], 0
    for path, one in files.items():
        if n_missing := sum(segment not in one for segment in order):
            incomplete.append(f"{path.as_posix()} ({n_missing} of {counted(len(order), 'segment')})")
            continue
        found[path] = [_LINE_END.sub(" ", one[segment]) for segment in order]
        n_broken += sum(line != one[segment] for line, segment in zip(found[path], order, strict=True))
    if incomplete:
        notes.append(f"files with missing texts are excluded: {', '.join(incomplete)}")
    if n_broken:
        notes.append(f"line breaks are written as spaces in {counted(n_broken, 'text')}")
    return found


def _table(rows: Sequence[Sequence[object]]) -> str:
    """Tab-separated lines; unknown values are empty, and tabs and line breaks in values become spaces."""
    cells = (("" if cell is None else _LINE_END.sub(" ", str(cell)).replace("\t", " ") for cell in row) for row in rows)
    return "".join("\t".join(row) + "\n" for row in cells)


def _file_name(name: str) -> str:
    """A name as a file name; characters with a special meaning on some operating system are percent-encoded.

    >>> _file_name("Online-A.1574"), _file_name("GPT 5.5"), _file_name("a/b%"), _file_name("..")
    ('Online-A.1574', 'GPT 5.5', 'a%2Fb%25', '%2E%2E')
    """
    encoded = _NOT_IN_NAMES.sub(lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), name)
    check_name(encoded)
    return encoded


def export_items(warehouse: Warehouse, key: EvalsetKey, folder: Path, notes: list[str]) -> dict[Path, int]:
    """Write TESTSET.LP.jsonl: one item per segment, in order, with the keys of subset2evaluate.

    Keys: i (from 0), src, ref (the standard reference), tgt {system: text}, scores {system: {metric: value}}, domain,
    doc. Systems are the MT systems with texts that have scores; `human` among the metrics is the official human score,
    metrics are those with the standard reference or reference-free, by base name. Data that the tool can't use is left
    out, with a note: segments not judged for all systems of the human score, and metrics with missing scores.
    Raises OSError: the folder can't be written.
    """
    evalset = {"evalset": key.evalset_id}
    ((reference, human),) = warehouse.rows(
        "SELECT standard_reference, coalesce(standard_human_seg, standard_human_sys) FROM evalset "
        "WHERE evalset_id = $evalset",
        evalset,
    )
    texts = texts_of(warehouse, evalset)
    if reference is None:
        references = sorted(name for kind, name in texts if kind == "reference" and name is not None)
        reference = references[0] if len(references) == 1 else None
    scores: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    asked = {**evalset, "human": human, "reference": reference}
    for metric, system, segment, value in warehouse.rows(statement(__package__, "item_scores"), asked):
        scores[metric][system][segment] = value
    judged = scores.pop("human", {})
    systems = sorted(judged or {name for values in scores.values() for name in values})
    segments = warehouse.rows(
        "SELECT segment, domain, document FROM segment WHERE evalset_id = $evalset ORDER BY segment", evalset
    )
    if human is not None and not judged:
        notes.append(f"{human} has no segment scores, so items have no human scores")
    if judged:
        complete = [row for row in segments if all(row[0] in judged[name] for name in systems)]
        if n := len(segments) - len(complete):
            notes.append(f"{counted(n, 'segment')} {are(n)} excluded: not every system was judged there")
        segments = complete
    usable = {}
    for metric, values in sorted(scores.items()):
        if all(name in values and all(row[0] in values[name] for row in segments) for name in systems):
            usable[metric] = values
        else:
            notes.append(f"{metric} is excluded: scores are missing")
    if judged:
        usable["human"] = judged
    outputs = {name: texts.get(("output", name), {}) for name in systems}
    path = folder / f"{quoted(key.testset)}.{quoted(key.lp)}.jsonl"
    with replacing_file(path) as fresh, fresh.open("w", encoding="utf-8", newline="\n") as file:
        for number, (segment, domain, document) in enumerate(segments):
            item: dict[str, Any] = {
                "i": number,
                "src": texts.get(("source", None), {}).get(segment),
                "ref": texts.get(("reference", reference), {}).get(segment),
                "tgt": {name: outputs[name][segment] for name in systems if segment in outputs[name]},
                "domain": domain,
                "doc": document,
                "scores": {name: {metric: usable[metric][name][segment] for metric in usable} for name in systems},
            }
            file.write(json.dumps(item, ensure_ascii=False, allow_nan=False) + "\n")
    return {path: len(segments)}
