"""Items of subset2evaluate, one JSON object per line: a source with its outputs and their scores."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from warehouse.database import statement
from warehouse.database.connection import Warehouse
from warehouse.export.exported import EvalsetKey, Exported, quoted
from warehouse.export.files import beside
from warehouse.export.texts import texts_of
from warehouse.wording import counted


def export_items(warehouse: Warehouse, key: EvalsetKey, folder: Path) -> Exported:
    """Write TESTSET.LP.jsonl: an item for each segment, in order, with the keys of subset2evaluate.

    Keys: i (from 0), src, ref (the standard reference), tgt {system: text}, scores {system: {metric: value}}, domain,
    doc. Systems are the MT systems with texts that have scores; `human` among the metrics is the official human score,
    metrics are those that compared with the standard reference or none, by base name. What that tool can't use is
    left out, with a note: segments that not all systems of the human score are judged on, metrics that lack scores.
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
    scores = _scores(warehouse, evalset, reference, human)
    judged = scores.pop("human", {})
    systems = sorted({name for values in scores.values() for name in values} | set(judged))
    if judged:
        systems = sorted(judged)
    segments = warehouse.rows(
        "SELECT segment, domain, document FROM segment WHERE evalset_id = $evalset ORDER BY segment", evalset
    )
    notes = [] if human is None or judged else [f"no segment scores of {human}: items without human scores"]
    if judged:
        complete = [row for row in segments if all(row[0] in judged[name] for name in systems)]
        if len(complete) < len(segments):
            notes.append(
                f"{counted(len(segments) - len(complete), 'segment')} excluded: not every system was judged on them"
            )
        segments = complete
    usable = {}
    for metric, values in sorted(scores.items()):
        if all(name in values and all(row[0] in values[name] for row in segments) for name in systems):
            usable[metric] = values
        else:
            notes.append(f"{metric} excluded: scores missing")
    if judged:
        usable["human"] = judged
    path = folder / f"{quoted(key.testset)}.{quoted(key.lp)}.jsonl"
    with beside(path) as fresh, fresh.open("w", encoding="utf-8", newline="\n") as file:
        for number, (segment, domain, document) in enumerate(segments):
            item: dict[str, Any] = {
                "i": number,
                "src": texts.get(("source", None), {}).get(segment),
                "ref": texts.get(("reference", reference), {}).get(segment),
                "tgt": {
                    name: texts["output", name][segment]
                    for name in systems
                    if segment in texts.get(("output", name), {})
                },
                "domain": domain,
                "doc": document,
                "scores": {name: {metric: usable[metric][name][segment] for metric in usable} for name in systems},
            }
            file.write(json.dumps(item, ensure_ascii=False, allow_nan=False) + "\n")
    return Exported(key.testset, key.lp, 1, len(segments), path.stat().st_size, tuple(notes))


def _scores(
    warehouse: Warehouse, evalset: dict[str, int], reference: str | None, human: str | None
) -> dict[str, dict[str, dict[int, float]]]:
    """Scores of MT systems by metric (or `human`), system and segment, missing ones left out."""
    found: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    rows = warehouse.rows(
        statement(__package__, "item_scores"),
        {**evalset, "human": human, "reference": reference},
    )
    for metric, system, segment, value in rows:
        found[metric][system][segment] = value
    return {metric: dict(values) for metric, values in found.items()}
